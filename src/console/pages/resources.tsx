/** Resources of every kind in one list, with bulk actions. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, isItem, pathOf, problemOf, request, textOf } from '../api/api.ts';
import { refresh, usePage } from '../api/reading.ts';
import { hrefOf, place } from '../api/route.ts';
import { scopedQuery } from '../api/scope.ts';
import { collections } from '../api/session.ts';
import { rowActions } from '../components/actions.tsx';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icons.tsx';
import { ListPage } from '../components/list.tsx';
import { Tabs } from '../components/page.tsx';
import { ChoiceBar } from '../components/table.tsx';
import { notify } from '../components/toast.tsx';
import { nameOf } from '../components/values.tsx';
import { statusOf } from '../format/status.ts';
import { actionTitle, plural, t, titleOf } from '../i18n/words.ts';
import { canManageResources } from './attention.tsx';
import { newResourcePath } from './new-resource.tsx';

/** The most used views, as filters of the list. */
const views = (): readonly (readonly [title: string, query: Readonly<Record<string, string>>])[] => [
  [t('All'), {}],
  [t('Virtual machines'), { category: 'vms' }],
  [t('Volumes and snapshots'), { category: 'storages' }],
  [t('Private clouds'), { category: 'private_clouds' }],
  [t('Applications'), { category: 'apps' }],
  [t('Failed'), { state: 'Erred' }],
];

export function ResourcesPage(): JSX.Element {
  const path = '/resources/';
  const { query } = place.value;
  const collection = collections.value.get('resources');
  const [selected, setSelected] = useState<ReadonlyMap<string, Item>>(new Map());
  const canWork = canManageResources();
  const counts = useCounts();
  const isHere = (wanted: Readonly<Record<string, string>>): boolean =>
    ['category', 'state'].every((name) => (query.get(name) ?? '') === (wanted[name] ?? ''));
  const select = (items: readonly Item[], isSelected: boolean): void => {
    const next = new Map(selected);
    for (const item of items)
      if (isSelected) next.set(textOf(item, 'url'), item);
      else next.delete(textOf(item, 'url'));
    setSelected(next);
  };
  return (
    <ListPage
      path={path}
      title={titleOf('resources')}
      count={counts.get('')}
      collection={collection}
      actions={
        canWork && (
          <a class="btn primary" href={hrefOf(newResourcePath)}>
            <Icon name="create" />
            {t('Create')}
          </a>
        )
      }
      tabs={
        <Tabs
          label={t('Views')}
          tabs={views().map(([title, wanted]) => ({
            href: hrefOf(path, wanted),
            title,
            count: counts.get(Object.values(wanted).join()),
            isCurrent: isHere(wanted),
          }))}
        />
      }
      hiddenFilters={['category']}
      facets={['state', 'service_settings_uuid', 'customer_uuid', 'project_uuid', 'tag']}
      rowActions={canWork ? rowActions : undefined}
      {...(canWork && {
        selection: { selected, select },
        above: selected.size > 0 && <BulkActions selected={selected} onDone={() => setSelected(new Map())} />,
      })}
    />
  );
}

/** Counts the resources in each view, by the value of its filter. */
function useCounts(): ReadonlyMap<string, number> {
  const reads = views().map(
    ([, wanted]) =>
      [
        Object.values(wanted).join(),
        // The number and order of these hooks are fixed.
        usePage(`/api/resources/?${scopedQuery('resources', { ...wanted, page_size: '1', field: 'uuid' })}`).value,
      ] as const,
  );
  return new Map(reads.flatMap(([key, page]) => (page && !page.problem ? [[key, page.count]] : [])));
}

const bulkActions = ['start', 'stop', 'restart', 'pull'];

/** Returns why an action would affect none of the resources; undefined if it may affect one. */
function uselessReason(action: string, resources: readonly Item[]): string | undefined {
  const areAll = (word: string): boolean => resources.every((item) => statusOf(item).word === word);
  if (action === 'start' && areAll('Running')) return t('All selected resources are running.');
  if (['stop', 'restart'].includes(action) && areAll('Stopped')) return t('All selected resources are stopped.');
  return undefined;
}

/** Starts, stops, restarts or refreshes every selected resource, and reports rejections. */
function BulkActions({
  selected,
  onDone,
}: {
  readonly selected: ReadonlyMap<string, Item>;
  readonly onDone: () => void;
}): JSX.Element {
  const [isBusy, setBusy] = useState(false);

  async function act(name: string): Promise<void> {
    setBusy(true);
    const rejected: string[] = [];
    const title = actionTitle(name);
    let id = notify(title, { tone: 'busy' });
    let done = 0;
    // Run them one at a time, to show progress.
    for (const [url, item] of selected) {
      const { body, isOk, status } = await request<unknown>('POST', `${pathOf(url)}${name}/`);
      const message = isItem(body) ? problemOf(body) : '';
      if (!isOk) rejected.push(`${nameOf(item)}: ${status === 404 ? t('It does not support this action.') : message}`);
      done += 1;
      id = notify(title, {
        tone: 'busy',
        replaces: id,
        detail: t('{done} of {count} done', { done, count: selected.size }),
      });
    }
    setBusy(false);
    const startedCount = selected.size - rejected.length;
    notify(`${title}: ${plural(startedCount, '{count} started.', '{count} started.')}`, {
      tone: rejected.length > 0 ? 'bad' : 'good',
      replaces: id,
      detail: rejected.join(' '),
    });
    onDone();
    refresh();
  }

  return (
    <ChoiceBar count={selected.size} label={t('Selected resources')} onClear={onDone}>
      {bulkActions.map((name) => (
        <Button
          key={name}
          icon={name}
          small
          isBusy={isBusy}
          reason={uselessReason(name, [...selected.values()])}
          onClick={() => void act(name)}
        >
          {actionTitle(name)}
        </Button>
      ))}
    </ChoiceBar>
  );
}
