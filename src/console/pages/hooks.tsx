/** Notifications of every kind, and their deliveries. */
import type { JSX } from 'preact';
import { type Item, pathOf, problemOf, request, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { optimistically } from '../api/optimistic.ts';
import { refresh, useList } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { collections, isStaff, me } from '../api/session.ts';
import { Card } from '../components/card.tsx';
import { fieldColumn, timeColumn } from '../components/columns.tsx';
import { Creation } from '../components/creation.tsx';
import { List } from '../components/list.tsx';
import { PageHeader } from '../components/page.tsx';
import { PostButton } from '../components/post.tsx';
import { type Column, NameCell, Table } from '../components/table.tsx';
import { notify } from '../components/toast.tsx';
import { nameOf } from '../components/values.tsx';
import { choiceText } from '../format/choices.ts';
import { t, titleOf } from '../i18n/words.ts';
import { useIsManaged } from './delivery.tsx';

/** All hooks, with buttons to add one of each kind. */
export function HooksPage(): JSX.Element {
  const path = '/hooks/';
  const kinds: readonly (readonly [list: string, button: string])[] = [
    ['hooks-web', t('New webhook')],
    ['hooks-email', t('New email notification')],
    ['hooks-push', t('New phone notification')],
  ];
  return (
    <>
      <PageHeader
        title={titleOf('hooks')}
        actions={kinds.map(([list, button]) => {
          const collection = collections.value.get(list);
          return collection && <Creation key={list} collection={collection} button={button} />;
        })}
      />
      <List path={path} collection={collections.value.get('hooks')} columns={columns} />
    </>
  );
}

const columns = (): readonly Column[] => [
  {
    key: 'name',
    title: titleOf('hook'),
    class: 'name',
    cell: (hook) => (
      <NameCell
        icon={`hooks-${textOf(hook, 'hook_type').replace(/hook$/, '')}`}
        href={hrefOfLink(textOf(hook, 'url'))}
        name={nameOf(hook)}
        sub={choiceText(textOf(hook, 'hook_type'))}
      />
    ),
  },
  { key: 'on', title: titleOf('is_active'), class: 'state', cell: (hook) => <Switch hook={hook} /> },
  fieldColumn('event_groups'),
  timeColumn('created'),
];

/** Enables and disables a hook, for its owner and staff (events.md 5.1). */
function Switch({ hook }: { readonly hook: Item }): JSX.Element | null {
  const isActive = hook.is_active === true;
  if (!isStaff.value && textOf(hook, 'author_uuid') !== textOf(me.value ?? {}, 'uuid')) return null;
  return (
    // The label makes the target large enough for a finger.
    <label class="check">
      <input
        type="checkbox"
        role="switch"
        class="switch"
        aria-checked={isActive}
        aria-label={t('Switched on: {name}', { name: nameOf(hook) })}
        checked={isActive}
        onInput={async () => {
          const path = pathOf(textOf(hook, 'url'));
          const change = { is_active: !isActive };
          const response = await optimistically(path, change, () => request<Item>('PATCH', path, { body: change }));
          if (!response.isOk) notify(problemOf(response.body), { tone: 'bad' });
          refresh();
        }}
      />
    </label>
  );
}

/** The newest deliveries of a webhook. */
export function Deliveries({ hook }: { readonly hook: Item }): JSX.Element {
  const own = pathOf(textOf(hook, 'url'));
  const path = `${own}deliveries/`;
  const params = { path: { key: textOf(hook, 'uuid') }, query: { page_size: 10 } };
  const { value: page } = useList(() => api.GET('/api/hooks-web/{key}/deliveries/', { params }), [own]);
  const isManaged = useIsManaged(own);
  return (
    <Card
      title={t('Deliveries')}
      more={page && page.count > 0 ? hrefOf(path.slice('/api'.length)) : undefined}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('Nothing has been delivered yet. Send a test to check the receiver.') : undefined}
      isFlush
    >
      {hook.is_active === false && <p class="in bad-ink">{t('This notification is switched off.')}</p>}
      {page && page.count > 0 && (
        <Table
          items={page.items}
          columns={deliveryColumns()}
          actions={
            isManaged
              ? (delivery) =>
                  textOf(delivery, 'status') !== 'pending' && (
                    <PostButton
                      title={t('Redeliver')}
                      path={`${path}${textOf(delivery, 'uuid')}/redeliver/`}
                      about={textOf(delivery, 'event_type')}
                    />
                  )
              : undefined
          }
        />
      )}
    </Card>
  );
}

const deliveryColumns = (): readonly Column[] => [
  {
    key: 'event',
    title: titleOf('event_type'),
    class: 'name',
    cell: (delivery) => (
      <NameCell
        href={hrefOfLink(textOf(delivery, 'url'))}
        name={choiceText(textOf(delivery, 'event_type'))}
        sub={textOf(delivery, 'error_message')}
      />
    ),
  },
  fieldColumn('status'),
  fieldColumn('attempts'),
  { ...fieldColumn('response_code'), class: 'num when-roomy' },
  timeColumn('created'),
];
