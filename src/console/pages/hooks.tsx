/** Who is told of events: hooks of every kind, and what became of their deliveries. */
import type { JSX } from 'preact';
import { type Item, pathOf, problemOf, request, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { expecting } from '../api/expected.ts';
import { refresh, useList } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { collections, isStaff, me } from '../api/session.ts';
import { Creation } from '../components/creation.tsx';
import { notice } from '../components/dialog.tsx';
import { Filters, Listed, Table } from '../components/list.tsx';
import { PostButton } from '../components/post.tsx';
import { nameOf, Part } from '../components/shown.tsx';
import { t, titleOf } from '../i18n/words.ts';
import { useIsManaged } from './delivery.tsx';

/** All hooks, with a way to add one of each kind. */
export function HooksPage(): JSX.Element {
  const path = '/hooks/';
  const kinds: readonly (readonly [list: string, button: string])[] = [
    ['hooks-web', t('Tell a web address')],
    ['hooks-email', t('Tell by email')],
    ['hooks-push', t('Tell a telephone')],
  ];
  return (
    <>
      <header class="page">
        <h1 tabIndex={-1}>{titleOf('hooks')}</h1>
      </header>
      <div class="buttons start">
        {kinds.map(([list, button]) => {
          const collection = collections.value.get(list);
          return collection && <Creation key={list} collection={collection} button={button} />;
        })}
      </div>
      <Filters key={path} path={path} filters={collections.value.get('hooks')?.filters ?? []} />
      <Listed
        path={path}
        orderings={[]}
        margin={{ title: t('On'), isFirst: true, cell: (hook) => <Switch hook={hook} /> }}
      />
    </>
  );
}

/** Switches a hook on and off, for those whose it is and for staff (events.md 5.1). */
function Switch({ hook }: { readonly hook: Item }): JSX.Element | null {
  const isActive = hook.is_active === true;
  if (!isStaff.value && textOf(hook, 'author_uuid') !== textOf(me.value ?? {}, 'uuid')) return null;
  return (
    // The label is what a finger meets.
    <label>
      <input
        type="checkbox"
        role="switch"
        aria-checked={isActive}
        aria-label={t('Switched on: {name}', { name: nameOf(hook) })}
        checked={isActive}
        onInput={async () => {
          const path = pathOf(textOf(hook, 'url'));
          const change = { is_active: !isActive };
          const answer = await expecting(path, change, () => request<Item>('PATCH', path, { body: change }));
          if (!answer.isOk) notice.value = problemOf(answer.body);
          refresh();
        }}
      />
    </label>
  );
}

/** The newest deliveries of a web hook, which are followed as every list is. */
export function Deliveries({ hook }: { readonly hook: Item }): JSX.Element {
  const own = pathOf(textOf(hook, 'url'));
  const path = `${own}deliveries/`;
  const params = { path: { key: textOf(hook, 'uuid') }, query: { page_size: 10 } };
  const { value: page } = useList(() => api.GET('/api/hooks-web/{key}/deliveries/', { params }), [own]);
  const isManaged = useIsManaged(own);
  return (
    <Part
      title={t('Deliveries')}
      more={page && page.count > 0 ? hrefOf(path.slice('/api'.length)) : undefined}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('Nothing was delivered yet. Test shows whether anybody answers.') : undefined}
    >
      {hook.is_active === false && <p class="problem">{t('This notification is switched off.')}</p>}
      {page && page.count > 0 && (
        <Table
          items={page.items}
          {...(isManaged && {
            margin: {
              title: t('Actions'),
              isFirst: false,
              cell: (delivery) =>
                textOf(delivery, 'status') !== 'pending' && (
                  <PostButton
                    title={t('Redeliver')}
                    path={`${path}${textOf(delivery, 'uuid')}/redeliver/`}
                    about={textOf(delivery, 'event_type')}
                  />
                ),
            },
          })}
        />
      )}
    </Part>
  );
}
