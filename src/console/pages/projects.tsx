/** A card with the first projects and their state. */
import type { JSX } from 'preact';
import { itemsIn, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { type Scope, scopedQuery } from '../api/scope.ts';
import { collections } from '../api/session.ts';
import { Card, nearLimit, shareOf } from '../components/card.tsx';
import { Creation } from '../components/creation.tsx';
import { Dot } from '../components/status.tsx';
import { type Column, NameCell, Table } from '../components/table.tsx';
import { nameOf } from '../components/values.tsx';
import { percentText, quotaTitle, sizeText } from '../format/text.ts';
import { numberText, plural, t, titleOf } from '../i18n/words.ts';
import type { Item } from '../item.ts';

/** Returns the usage of a quota of a customer or project; undefined without that quota. */
export function usageOf(item: Item, name: string): number | undefined {
  const quota = itemsIn(item.quotas).find((one) => textOf(one, 'name') === name);
  return quota && Number(quota.usage);
}

/** With `hasCreation`, it offers to create a project. The second line is the owner, or in a customer, the usage. */
export function Projects({
  within,
  hasCreation = false,
}: {
  readonly within: Scope;
  readonly hasCreation?: boolean;
}): JSX.Element {
  const query = scopedQuery('projects', {}, within);
  const { value: page } = usePage(`/api/projects/?${query}&page_size=5`);
  const { value: failed } = usePage(
    `/api/resources/?${scopedQuery('resources', { state: 'Erred', page_size: '300', field: 'project_uuid' }, within)}`,
  );
  const collection = hasCreation ? collections.value.get('projects') : undefined;
  const { customer } = within;
  return (
    <Card
      title={t('Projects')}
      count={page?.count}
      more={page && page.count > 5 ? hrefOf('/projects/', new URLSearchParams(query)) : undefined}
      actions={
        collection && (
          <Creation
            collection={collection}
            given={customer ? { customer: customer.url } : {}}
            button={t('New project')}
            isQuiet
          />
        )
      }
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('No projects yet.') : undefined}
      isFlush
    >
      {page && page.count > 0 && customer && <Table items={page.items} columns={projectColumns(failed?.items ?? [])} />}
      {page && page.count > 0 && !customer && (
        <ul class="lines">
          {page.items.map((project) => (
            <li key={textOf(project, 'url')}>
              <span class="words">
                <a href={hrefOfLink(textOf(project, 'url'))}>{nameOf(project)}</a>
                <span class="sub">{textOf(project, 'customer_name')}</span>
              </span>
              <span class="end">
                <Health owner={project} failed={failedIn(project, failed?.items ?? [])} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** The number of failed resources in a project. */
const failedIn = (project: Item, failed: readonly Item[]): number =>
  failed.filter((item) => textOf(item, 'project_uuid') === textOf(project, 'uuid')).length;

/** The columns of the projects of a customer: what they use, and their problems. */
const projectColumns = (failed: readonly Item[]): readonly Column[] => [
  {
    key: 'name',
    title: titleOf('project'),
    class: 'name',
    cell: (project) => (
      <NameCell
        href={hrefOfLink(textOf(project, 'url'))}
        name={nameOf(project)}
        sub={plural(itemsIn(project.services).length, '{count} provider account', '{count} provider accounts')}
      />
    ),
  },
  {
    key: 'nc_vm_count',
    title: t('VMs'),
    class: 'num',
    cell: (project) => numberText(usageOf(project, 'nc_vm_count') ?? 0),
  },
  {
    key: 'nc_volume_size',
    title: titleOf('storage'),
    class: 'num',
    cell: (project) => sizeText(usageOf(project, 'nc_volume_size') ?? 0),
  },
  {
    key: 'state',
    title: titleOf('state'),
    class: 'state',
    cell: (project) => <Health owner={project} failed={failedIn(project, failed)} />,
  },
];

/** The worst problem of a customer or project: failed resources, or a quota near its limit. */
export function Health({ owner, failed }: { readonly owner: Item; readonly failed: number }): JSX.Element {
  if (failed > 0) return <Dot tone="bad">{plural(failed, '{count} failed', '{count} failed')}</Dot>;
  const [quota] = [...itemsIn(owner.quotas)].sort((a, b) => (shareOf(b) ?? -1) - (shareOf(a) ?? -1));
  const share = (quota && shareOf(quota)) ?? 0;
  if (share < nearLimit) return <Dot tone="good">{t('Healthy')}</Dot>;
  return (
    <Dot tone={share >= 1 ? 'bad' : 'warn'}>
      {quotaTitle(textOf(quota ?? {}, 'name'))} {percentText(share)}
    </Dot>
  );
}
