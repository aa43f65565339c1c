/** The quotas of a customer or project: a card with the most important ones, and a tab to change the limits. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, itemsIn, pathOf, rankIn, request, textOf } from '../api/api.ts';
import { type FormField, plainField } from '../api/fields.ts';
import { refresh, useObject, usePage, useRequest } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { collections } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Card, Loading, Meter, Meters, QuotaMeters, shareOf } from '../components/card.tsx';
import { type Description, permittedMethods } from '../components/creation.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { type Column, Table } from '../components/table.tsx';
import { notify } from '../components/toast.tsx';
import { nameOf } from '../components/values.tsx';
import { quotaTitle } from '../format/text.ts';
import { isQuotaInMebibytes } from '../i18n/labels.ts';
import { t, titleOf } from '../i18n/words.ts';
import type { ObjectTab } from './object.tsx';

type Kind = 'customer' | 'project';

/** Quotas to show even without a limit, by importance. */
const wantedQuotas = [
  'nc_vm_count',
  'vcpu',
  'ram',
  'storage',
  'nc_storage_count',
  'nc_volume_size',
  'nc_private_cloud_count',
  'nc_project_count',
  'nc_app_count',
];

/** Sorts quotas by usage, the fullest first and those without a limit last. */
export function byShare(quotas: readonly Item[]): readonly Item[] {
  const rank = (quota: Item): number => rankIn(wantedQuotas, textOf(quota, 'name'));
  return [...quotas].sort((a, b) => (shareOf(b) ?? -1) - (shareOf(a) ?? -1) || rank(a) - rank(b));
}

const amounts = ['vcpu', 'ram', 'storage'] as const;

/** Converts sums from statistics to quotas. */
const quotasOfSums = (sums: Item): readonly Item[] =>
  amounts
    .filter((name) => typeof sums[`${name}_usage`] === 'number')
    .map((name) => ({ name, limit: Number(sums[name] ?? -1), usage: sums[`${name}_usage`] }));

/**
 * Reads vCPUs, memory and storage of a customer's or project's connections as quotas; without a uuid, of everything that the user
 * can read. Undefined until loaded.
 */
export function useAmounts(aggregate: Kind, uuid = ''): readonly Item[] | undefined {
  const query = new URLSearchParams({ aggregate, ...(uuid !== '' && { uuid }) });
  const { value: response } = useObject(`/api/stats/quota/?${query}`);
  return response && (response.isOk ? quotasOfSums(response.body) : []);
}

/** Reads the private clouds of a customer or project with their quotas; undefined until loaded. */
export function useClouds(query: string): readonly Item[] | undefined {
  const isOffered = collections.value.has('openstack-tenants');
  const { value: page } = usePage(
    isOffered ? `/api/openstack-tenants/?${query}&field=url&field=name&field=quotas&page_size=300` : '',
  );
  return page?.items;
}

/** Replaces each quota by that of the fullest private cloud, if its limit is tighter. */
function withCloudLimits(quotas: readonly Item[], clouds: readonly Item[]): readonly Item[] {
  return quotas.map((quota) => {
    const [tightest] = clouds
      .flatMap((cloud) => itemsIn(cloud.quotas).map((own): Item => ({ ...own, cloud_name: nameOf(cloud) })))
      .filter((own) => own.name === quota.name && shareOf(own) !== undefined)
      .sort((a, b) => (shareOf(b) ?? 0) - (shareOf(a) ?? 0));
    return tightest && (shareOf(tightest) ?? 0) > (shareOf(quota) ?? -1) ? tightest : quota;
  });
}

/** Returns the name of the private cloud whose limit applies. */
const limitOwner = (quota: Item): string | undefined =>
  textOf(quota, 'cloud_name') === '' ? undefined : t('Limit for {owner}', { owner: textOf(quota, 'cloud_name') });

/** Number of initially visible quotas. */
const shownQuotas = 6;

/** The card with the quotas of a customer. */
export const CustomerQuotas = ({
  customer,
  sums,
}: {
  readonly customer: Item;
  readonly sums: readonly Item[];
}): JSX.Element => (
  <QuotaMeters
    title={t('Quotas')}
    quotas={byShare([...sums, ...itemsIn(customer.quotas)])}
    shown={shownQuotas}
    more={quotaTabLink('customer', customer)}
  />
);

/** The card with the limits that apply in a project. */
export const ProjectLimits = ({
  project,
  sums,
  clouds,
}: {
  readonly project: Item;
  readonly sums: readonly Item[];
  readonly clouds: readonly Item[];
}): JSX.Element => (
  <Card title={t('Limits')} more={quotaTabLink('project', project)}>
    <div class="stack">
      {byShare([...withCloudLimits(sums, clouds), ...itemsIn(project.quotas)])
        .slice(0, shownQuotas)
        .map((quota) => (
          <Meter key={textOf(quota, 'name')} quota={quota} sub={limitOwner(quota)} />
        ))}
    </div>
  </Card>
);

const quotaTabLink = (kind: Kind, item: Item): readonly [href: string, words: string] => [
  hrefOf(`/${kind}s/${textOf(item, 'uuid')}/`, { tab: 'quotas' }),
  t('All quotas'),
];

/** The tab with every quota. */
export const quotasTab = (kind: Kind): ObjectTab => ({
  name: 'quotas',
  get title() {
    return t('Quotas');
  },
  content: (item, reload) => <AllQuotas item={item} kind={kind} reload={reload} />,
});

function AllQuotas({
  item,
  kind,
  reload,
}: {
  readonly item: Item;
  readonly kind: Kind;
  readonly reload: () => Promise<void>;
}): JSX.Element {
  const quotas = byShare(itemsIn(item.quotas));
  const first = pathOf(textOf(quotas[0] ?? {}, 'url'));
  // The same rights apply to all quotas of an object.
  const { value: options } = useRequest<Description>('OPTIONS', first || '/api/quotas/');
  const clouds = useClouds(`${kind}_uuid=${textOf(item, 'uuid')}`);
  const sums = useAmounts(kind, textOf(item, 'uuid'));
  const [changing, setChanging] = useState<Item>();
  if (!options || !sums) return <Loading />;
  const isChangeable = first !== '' && permittedMethods(options.headers)?.includes('PATCH') === true;
  return (
    <div class="stack">
      <Card title={t('Quotas of {name}', { name: nameOf(item) })} isFlush>
        <Table
          items={quotas}
          columns={quotaColumns()}
          {...(isChangeable && {
            actions: (quota: Item) => (
              <Button
                small
                opensDialog
                label={t('Change the limit of {quota}', { quota: quotaTitle(textOf(quota, 'name')) })}
                onClick={() => setChanging(quota)}
              >
                {t('Change')}
              </Button>
            ),
          })}
        />
      </Card>
      {sums.length > 0 && (
        <Card title={t('Used at the providers')}>
          <div class="meters">
            {sums.map((quota) => (
              <Meter key={textOf(quota, 'name')} quota={quota} />
            ))}
          </div>
        </Card>
      )}
      {clouds && clouds.length > 0 && <CloudQuotas clouds={clouds} />}
      {changing && (
        <LimitDialog
          quota={changing}
          onClose={() => setChanging(undefined)}
          onSaved={async () => {
            setChanging(undefined);
            await reload();
          }}
        />
      )}
    </div>
  );
}

const quotaColumns = (): readonly Column[] => [
  {
    key: 'name',
    title: titleOf('quota'),
    class: 'name',
    cell: (quota) => <a href={hrefOfLink(textOf(quota, 'url'))}>{quotaTitle(textOf(quota, 'name'))}</a>,
  },
  {
    key: 'usage',
    title: titleOf('usage'),
    class: 'wide',
    cell: (quota) => <Meter quota={quota} title="" href={undefined} />,
  },
];

/** The quotas of private clouds, which limit their machines. */
const CloudQuotas = ({ clouds }: { readonly clouds: readonly Item[] }): JSX.Element => (
  <Card title={titleOf('private_clouds')} count={clouds.length} isFlush>
    <ul class="lines">
      {clouds.map((cloud) => (
        <li key={textOf(cloud, 'url')}>
          <span class="words">
            <a href={hrefOfLink(textOf(cloud, 'url'))}>{nameOf(cloud)}</a>
            <Meters quotas={itemsIn(cloud.quotas).filter(({ name }) => amounts.some((own) => own === name))} />
          </span>
        </li>
      ))}
    </ul>
  </Card>
);

/** Changes the limit of a quota and its alert threshold, both in display units. */
function LimitDialog({
  quota,
  onClose,
  onSaved,
}: {
  readonly quota: Item;
  readonly onClose: () => void;
  readonly onSaved: () => Promise<void>;
}): JSX.Element {
  const path = pathOf(textOf(quota, 'url'));
  const { value: response } = useRequest<Item>('GET', path);
  const name = textOf(quota, 'name');
  const title = t('Change the limit of {quota}', { quota: quotaTitle(name) });
  const kind = isQuotaInMebibytes(name) ? 'size' : 'number';
  const field = (own: string, help: string): FormField => ({
    ...plainField(own, titleOf(own), kind, false),
    type: 'integer',
    help,
  });
  const known = response?.isOk ? response.body : {};
  // The API uses -1 for no limit and 0 for no alert; the fields use an empty value.
  const initialValues = Object.fromEntries(
    [
      ['limit', -1],
      ['threshold', 0],
    ].map(([own = '', none]) => [own, known[own] === none ? undefined : known[own]]),
  );
  return (
    <Dialog title={title} onClose={onClose}>
      {response && (
        <Form
          fields={[
            field('limit', t('Empty: no limit.')),
            field('threshold', t('An alert opens at this usage. Leave empty for no alert.')),
          ]}
          initialValues={initialValues}
          button={t('Save')}
          onCancel={onClose}
          send={async (body) => {
            const { limit, threshold } = body as Item;
            const changed = await request<Item>('PATCH', path, {
              body: { limit: limit ?? -1, threshold: threshold ?? 0 },
            });
            if (!changed.isOk) return changed;
            notify(t('{name} saved', { name: quotaTitle(name) }));
            refresh();
            await onSaved();
            return changed;
          }}
        />
      )}
    </Dialog>
  );
}
