/** A card with the first projects and their state. */
import type { ComponentChildren, JSX } from 'preact';
import { itemsIn, request, textOf } from '../api/api.ts';
import { usePage, useReading } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { type Scope, scopedQuery } from '../api/scope.ts';
import { collections } from '../api/session.ts';
import { Card, nearLimit, shareOf } from '../components/card.tsx';
import { Creation } from '../components/creation.tsx';
import { type Badge, Dot } from '../components/status.tsx';
import { type Column, NameCell, Table } from '../components/table.tsx';
import { nameOf } from '../components/values.tsx';
import { statusOf } from '../format/status.ts';
import { percentText, quotaAmountText, quotaTitle } from '../format/text.ts';
import { numberText, plural, t, titleOf } from '../i18n/words.ts';
import { type Item, isItem } from '../item.ts';
import { byShare } from './quotas.tsx';

/** Returns the usage of a customer's or project's quota; undefined without that quota. */
export function usageOf(item: Item, name: string): number | undefined {
  const quota = itemsIn(item.quotas).find((one) => textOf(one, 'name') === name);
  return quota && Number(quota.usage);
}

/** The projects of a customer with their usage: a table, or one line each and a button to create another. */
export function Projects({
  within,
  isBrief = false,
}: {
  readonly within: Scope;
  readonly isBrief?: boolean;
}): JSX.Element {
  const query = scopedQuery('projects', {}, within);
  const { value: page } = usePage(`/api/projects/?${query}&page_size=5`);
  const health = useHealth('project', within);
  const collection = isBrief ? collections.value.get('projects') : undefined;
  const { customer } = within;
  const all = hrefOf('/projects/', new URLSearchParams(query));
  const isOfOne = new Set(page?.items.map((project) => textOf(project, 'customer_uuid'))).size === 1;
  return (
    <Card
      title={t('Projects')}
      count={page?.count}
      {...(page &&
        page.count > 5 &&
        (isBrief ? { footer: <a href={all}>{t('All projects')}</a> } : { more: [all, t('All projects')] }))}
      actions={
        collection && (
          <Creation
            collection={collection}
            initialValues={customer ? { customer: customer.url } : {}}
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
      {page && page.count > 0 && !isBrief && <UsageTable projects={page.items} health={health} />}
      {page && page.count > 0 && isBrief && (
        <ul class="lines">
          {page.items.map((project) => (
            <li key={textOf(project, 'url')}>
              <span class="words">
                <a href={hrefOfLink(textOf(project, 'url'))}>{nameOf(project)}</a>
                <span class="sub">
                  {isOfOne
                    ? plural(usageOf(project, 'nc_resource_count') ?? 0, '{count} resource', '{count} resources')
                    : textOf(project, 'customer_name')}
                </span>
              </span>
              <span class="end">{health(project)}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

const amounts = ['vcpu', 'ram', 'storage'] as const;

/** The projects of a customer as a table with usage and problems. */
function UsageTable({
  projects,
  health,
}: {
  readonly projects: readonly Item[];
  readonly health: Column['cell'];
}): JSX.Element {
  const uuids = projects.map((project) => textOf(project, 'uuid'));
  const { value: sums } = useReading(`usage of ${uuids.join()}`, async () => {
    const read = async (uuid: string): Promise<readonly [string, Item]> => {
      const { body, isOk } = await request<Item>('GET', `/api/stats/quota/?aggregate=project&uuid=${uuid}`);
      return [uuid, isOk ? body : {}];
    };
    return new Map(await Promise.all(uuids.map(read)));
  });
  const amountColumns = amounts.map(
    (name): Column => ({
      key: name,
      title: quotaTitle(name),
      class: name === 'storage' ? 'num nowrap' : 'num nowrap gone',
      cell: (project) => {
        const used = sums?.get(textOf(project, 'uuid'))?.[`${name}_usage`];
        return sums && quotaAmountText(name, Number(used ?? 0));
      },
    }),
  );
  return (
    <Table
      items={projects}
      columns={[
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
        ...amountColumns,
        { key: 'state', title: titleOf('state'), class: 'state', cell: health },
      ]}
    />
  );
}

/** Maximum page size of the API. */
const maxProblems = '300';

/**
 * Returns what shows the problems of a customer or project: failed resources and accounts, open alerts, or a quota near its
 * limit. A resource that is missing at its provider has an alert. A badge is shown only for problems.
 */
export function useHealth(
  kind: 'customer' | 'project',
  within?: Scope,
  Word: typeof Dot | typeof Badge = Dot,
): (owner: Item) => ComponentChildren {
  const query = (list: string, filters: Readonly<Record<string, string>>): string =>
    scopedQuery(list, { ...filters, page_size: maxProblems }, within);
  const own = `${kind}_uuid`;
  const { value: erred } = usePage(
    `/api/resources/?${query('resources', { state: 'Erred' })}&field=state&field=error_message&field=${own}`,
  );
  const { value: alerts } = usePage(
    `/api/alerts/?${query('alerts', { opened: 'true', acknowledged: 'false' })}&field=alert_type&field=context`,
  );
  return (owner) => {
    const isOwn = (item: unknown): boolean => isItem(item) && textOf(item, own) === textOf(owner, 'uuid');
    const failed = (erred?.items ?? []).filter((item) => isOwn(item) && statusOf(item).tone === 'bad').length;
    const open = (alerts?.items ?? []).filter(({ context }) => isOwn(context));
    const others = open.filter((alert) => textOf(alert, 'alert_type') !== 'service_unavailable').length;
    const words = [
      failed > 0 && plural(failed, '{count} failed', '{count} failed'),
      others < open.length && t('Account failed'),
      others > 0 && plural(others, '{count} open alert', '{count} open alerts'),
    ].filter(Boolean);
    if (words.length > 0)
      return <Word tone={failed > 0 || others < open.length ? 'bad' : 'warn'}>{words.join(', ')}</Word>;
    const [quota] = byShare(itemsIn(owner.quotas));
    const share = (quota && shareOf(quota)) ?? 0;
    if (share < nearLimit) return Word === Dot && <Dot tone="good">{t('Healthy')}</Dot>;
    return (
      <Word tone={share >= 1 ? 'bad' : 'warn'}>
        {quotaTitle(textOf(quota ?? {}, 'name'))} {percentText(share)}
      </Word>
    );
  };
}
