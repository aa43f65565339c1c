/** Any object of the API: its fields, what can be done with it, and the lists below it. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Item, problemOf, textOf } from '../api/api.ts';
import type { Collection } from '../api/document.ts';
import { refresh, useObject, useRepeated } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { Actions } from '../components/actions.tsx';
import { Fields, isPassing, nameOf, State } from '../components/shown.tsx';
import { t, titleOf } from '../i18n/words.ts';

/** The page of an object. `path` is its path below /api; `overview` makes what stands above its fields. */
export function ObjectPage({
  path,
  collection,
  overview,
}: {
  readonly path: string;
  readonly collection: Collection;
  readonly overview?: (item: Item, reload: () => Promise<void>) => ComponentChildren;
}): JSX.Element {
  const { value: answer, reload } = useObject(`/api${path}`);
  const item = answer?.isOk ? answer.body : undefined;
  const state = item ? textOf(item, 'state') : '';
  useRepeated(reload, isPassing(state));
  const before = useRef('');
  useEffect(() => {
    // What has changed the state may stand in the lists on this page.
    if (before.current !== '' && state !== '') refresh();
    before.current = state;
  }, [state]);
  if (!answer) return <p aria-busy="true">{t('Loading…')}</p>;
  if (!item)
    return (
      <>
        <h1 tabIndex={-1}>{t('Not here')}</h1>
        <p role="alert" class="problem">
          {problemOf(answer.body)}
        </p>
        <a href={hrefOf(`/${collection.name}/`)}>{collection.title}</a>
      </>
    );
  return (
    <>
      <nav aria-label={t('Where this is')} class="trail">
        <a href={hrefOf(`/${collection.name}/`)}>{collection.title}</a>
      </nav>
      <header class="page">
        <h1 tabIndex={-1}>
          {nameOf(item)} {state !== '' && <State value={state} />}
        </h1>
      </header>
      {textOf(item, 'error_message') !== '' && <p class="problem">{textOf(item, 'error_message')}</p>}
      <Actions
        // What is possible depends on the state.
        key={`${path} ${state} ${textOf(item, 'runtime_state')}`}
        path={path}
        item={item}
        etag={answer.headers.get('ETag')}
        collection={collection}
        reload={reload}
      />
      {overview?.(item, reload)}
      {collection.lists.length > 0 && (
        <nav aria-label={t('Lists')} class="lists">
          {collection.lists.map((name) => (
            <a key={name} href={hrefOf(`${path}${name}/`)}>
              {titleOf(name)}
            </a>
          ))}
        </nav>
      )}
      <section class="part" aria-label={t('Details')}>
        <header>
          <h2>{t('Details')}</h2>
        </header>
        <Fields item={item} hidden={['customers', 'projects'].includes(collection.name) ? ['quotas'] : []} />
      </section>
    </>
  );
}
