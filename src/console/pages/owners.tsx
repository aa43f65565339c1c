/** The lists of customers and projects, with usage and problems. */
import type { JSX } from 'preact';
import { type Item, itemsIn, textOf } from '../api/api.ts';
import { hrefOfLink } from '../api/route.ts';
import { collections, isStaff } from '../api/session.ts';
import { rowActions } from '../components/actions.tsx';
import { Bar, nearLimit, shareOf } from '../components/card.tsx';
import { fieldColumn, timeColumn } from '../components/columns.tsx';
import { Creation } from '../components/creation.tsx';
import { Icon } from '../components/icons.tsx';
import { ListPage } from '../components/list.tsx';
import type { Column } from '../components/table.tsx';
import { Avatar, nameOf } from '../components/values.tsx';
import { joinedText, percentText, quotaTitle, sizeText } from '../format/text.ts';
import { countryText, numberText, t, titleOf } from '../i18n/words.ts';
import { canManageResources } from './attention.tsx';
import { usageOf, useHealth } from './projects.tsx';
import { byShare } from './quotas.tsx';

type Kind = 'customer' | 'project';

/** Fields of optional columns. */
const extraFields: Readonly<Record<Kind, readonly string[]>> = {
  customer: ['abbreviation', 'email', 'phone_number', 'contact_details', 'agreement_number'],
  project: ['description'],
};

export function OwnersPage({ kind }: { readonly kind: Kind }): JSX.Element {
  const collection = collections.value.get(`${kind}s`);
  const health = useHealth(kind);
  return (
    <ListPage
      path={`/${kind}s/`}
      title={titleOf(`${kind}s`)}
      collection={collection}
      actions={
        collection && (
          <Creation
            collection={collection}
            button={kind === 'customer' ? t('New customer') : t('New project')}
            isPrimary
          />
        )
      }
      rowActions={isStaff.value || (kind === 'project' && canManageResources()) ? rowActions : undefined}
      columns={() => columns(kind, collection?.orderings ?? [], health)}
    />
  );
}

function columns(kind: Kind, orderings: readonly string[], health: Column['cell']): readonly Column[] {
  const sortOf = (name: string): string | undefined => (orderings.includes(name) ? name : undefined);
  const count = (title: string, quota: string, style = ''): Column => ({
    key: quota,
    title,
    class: `num ${style}`,
    cell: (owner) => numberText(usageOf(owner, quota) ?? 0),
  });
  return [
    {
      key: 'name',
      title: titleOf(kind),
      sort: sortOf('name'),
      order: 'name',
      class: 'name',
      cell: (owner) => nameCell(owner, kind),
    },
    ...(kind === 'customer' ? [count(titleOf('projects'), 'nc_project_count')] : []),
    count(t('VMs'), 'nc_vm_count'),
    count(titleOf('resources'), 'nc_resource_count', 'gone when-roomy'),
    {
      key: 'nc_volume_size',
      title: titleOf('storage'),
      class: 'num',
      cell: (owner) => sizeText(usageOf(owner, 'nc_volume_size') ?? 0),
    },
    {
      key: 'limit',
      title: t('Nearest limit'),
      class: 'gone when-roomy',
      cell: (owner) => <NearestLimit owner={owner} />,
    },
    { key: 'state', title: titleOf('state'), class: 'state', cell: health },
    timeColumn('created', sortOf('created')),
    ...extraFields[kind].map((name) => ({ ...fieldColumn(name, sortOf(name)), isExtra: true })),
  ];
}

/** The name, with country and code of a customer, or the customer of a project, below. */
function nameCell(owner: Item, kind: Kind): JSX.Element {
  const country = textOf(owner, 'country');
  const sub =
    kind === 'project'
      ? textOf(owner, 'customer_name')
      : joinedText([country && countryText(country), textOf(owner, 'abbreviation')]);
  return (
    <div class="with-icon">
      {kind === 'customer' ? (
        <Avatar name={nameOf(owner)} isSquare size="mid" />
      ) : (
        <span class="kind not-narrow">
          <Icon name="projects" />
        </span>
      )}
      <span>
        <a href={hrefOfLink(textOf(owner, 'url'))}>{nameOf(owner)}</a>
        {sub !== '' && <small>{sub}</small>}
      </span>
    </div>
  );
}

/** The quota nearest its limit. */
function NearestLimit({ owner }: { readonly owner: Item }): JSX.Element {
  const [quota] = byShare(itemsIn(owner.quotas));
  const share = quota && shareOf(quota);
  if (share === undefined) return <span class="muted">{t('No limits')}</span>;
  const tone = share < nearLimit ? '' : share >= 1 ? 'bad' : 'warn';
  return (
    <span class={`meter ${tone}`}>
      <span class="line">
        <span>{quotaTitle(textOf(quota ?? {}, 'name'))}</span>
        <span class="value">{percentText(share)}</span>
      </span>
      <Bar share={share} />
    </span>
  );
}
