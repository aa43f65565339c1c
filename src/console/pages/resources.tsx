/** Resources of every kind: one list to work on several at once, and a way to make each kind. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, isItem, pathOf, problemOf, request, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { refresh, useAnswer, useGet } from '../api/reading.ts';
import { go, hrefOf, hrefOfLink, place } from '../api/route.ts';
import { collections, isStaff, roles } from '../api/session.ts';
import { CreationForm, type Description, mayEver } from '../components/creation.tsx';
import { Dialog, notice } from '../components/dialog.tsx';
import { Icon } from '../components/icons.tsx';
import { Filters, Listed } from '../components/list.tsx';
import { PostForm } from '../components/post.tsx';
import { nameOf, ObjectLink, State } from '../components/shown.tsx';
import { plural, t, titleOf } from '../i18n/words.ts';
import { EventLines } from './events.tsx';
import { Listing } from './home.tsx';
import { Measurements } from './statistics.tsx';

/** Where resources are made. */
export const maker = '/new-resource/';

/** Whether the user may work on any resource. */
const worksSomewhere = (): boolean =>
  isStaff.value || ['owner', 'manager', 'admin'].some((role) => roles.value.has(role));

/** What people look for most, by the filters of the list. */
const views = (): readonly (readonly [title: string, query: Readonly<Record<string, string>>])[] => [
  [t('All'), {}],
  [t('Virtual machines'), { category: 'vms' }],
  [t('Private clouds'), { category: 'private_clouds' }],
  [t('Volumes and snapshots'), { category: 'storages' }],
  [t('Applications'), { category: 'apps' }],
  [t('Failed'), { state: 'Erred' }],
];

export function ResourcesPage(): JSX.Element {
  const path = '/resources/';
  const { query } = place.value;
  const collection = collections.value.get('resources');
  const [chosen, setChosen] = useState<ReadonlyMap<string, Item>>(new Map());
  const works = worksSomewhere();
  const isHere = (wanted: Readonly<Record<string, string>>): boolean =>
    ['category', 'state'].every((name) => (query.get(name) ?? '') === (wanted[name] ?? ''));
  const choose = (item: Item, isChosen: boolean): void => {
    const next = new Map(chosen);
    if (isChosen) next.set(textOf(item, 'url'), item);
    else next.delete(textOf(item, 'url'));
    setChosen(next);
  };
  return (
    <>
      <header class="page">
        <h1 tabIndex={-1}>{titleOf('resources')}</h1>
        {works && (
          <button type="button" onClick={() => go(maker)}>
            <Icon name="create" />
            {t('Create')}
          </button>
        )}
      </header>
      <nav aria-label={t('Views')} class="lists">
        {views().map(([title, wanted]) => (
          <a key={title} href={hrefOf(path, wanted)} aria-current={isHere(wanted) ? 'true' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      {collection && <Filters key={path} path={path} filters={collection.filters} elsewhere={['category', 'state']} />}
      {works && <Together chosen={chosen} onDone={() => setChosen(new Map())} />}
      <Listed
        path={path}
        orderings={collection?.orderings ?? []}
        {...(works && {
          margin: {
            title: t('Chosen'),
            isFirst: true,
            cell: (item) => (
              <label>
                <input
                  type="checkbox"
                  aria-label={t('Choose {name}', { name: nameOf(item) })}
                  checked={chosen.has(textOf(item, 'url'))}
                  onInput={(event) => choose(item, event.currentTarget.checked)}
                />
              </label>
            ),
          },
        })}
      />
    </>
  );
}

/** What can be done with several resources at once; each that is refused is told with its reason. */
function Together({
  chosen,
  onDone,
}: {
  readonly chosen: ReadonlyMap<string, Item>;
  readonly onDone: () => void;
}): JSX.Element {
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<readonly (readonly [item: Item, reason: string])[]>([]);

  async function act(name: string): Promise<void> {
    setBusy(true);
    const reasons: (readonly [Item, string])[] = [];
    // One after the other: each has to be told of by itself.
    for (const [url, item] of chosen) {
      const { body, isOk, status } = await request<unknown>('POST', `${pathOf(url)}${name}/`);
      const told = isItem(body) ? problemOf(body) : '';
      if (!isOk) reasons.push([item, status === 404 ? t('It cannot do that.') : told]);
    }
    setBusy(false);
    setRefused(reasons);
    const done = chosen.size - reasons.length;
    notice.value = `${titleOf(name)}: ${plural(done, '{count} has begun.', '{count} have begun.')}`;
    onDone();
    refresh();
  }

  return (
    <>
      <section class="actions" aria-label={t('With those that are chosen')}>
        {['start', 'stop', 'restart', 'pull'].map((name) => (
          <button
            key={name}
            type="button"
            class="outline"
            aria-busy={isBusy}
            disabled={isBusy || chosen.size === 0}
            onClick={() => void act(name)}
          >
            <Icon name={name} />
            {titleOf(name)}
          </button>
        ))}
        <span class="none">{plural(chosen.size, '{count} is chosen', '{count} are chosen')}</span>
      </section>
      {refused.length > 0 && (
        <Dialog title={t('Not all could be done')} onClose={() => setRefused([])}>
          <ul class="lines">
            {refused.map(([item, reason]) => (
              <li key={textOf(item, 'url')}>
                <ObjectLink item={item} />
                <span class="problem">{reason}</span>
              </li>
            ))}
          </ul>
          <footer class="buttons">
            <button type="button" onClick={() => setRefused([])}>
              {t('Close')}
            </button>
          </footer>
        </Dialog>
      )}
    </>
  );
}

/** The kinds of resources by type, then the form of one: `/new-resource/<list>/`. */
export function MakerPage({ list }: { readonly list: string }): JSX.Element {
  const { value: answer } = useGet(() => api.GET('/api/service-metadata/'));
  const collection = collections.value.get(list);
  const types = answer?.isOk ? Object.entries(answer.body) : [];
  return (
    <>
      <nav aria-label={t('Where this is')} class="trail">
        <a href={hrefOf('/resources/')}>{titleOf('resources')}</a>
        {collection && <a href={hrefOf(maker, place.value.query)}>{t('Another kind')}</a>}
      </nav>
      <h1 tabIndex={-1}>{collection ? t('Create: {title}', { title: collection.title }) : t('Create a resource')}</h1>
      {!answer && <p aria-busy="true">{t('Loading…')}</p>}
      {collection ? (
        <Making key={list} list={list} />
      ) : (
        types.map(([type, { resources }]) => (
          <section key={type} aria-label={type}>
            <h2>{type}</h2>
            <ul class="cards">
              {Object.values(isItem(resources) ? resources : {})
                .map((link) => pathOf(String(link)).split('/')[2] ?? '')
                .filter((name) => mayBeMade(name))
                .map((name) => (
                  <li key={name}>
                    <a href={hrefOf(`${maker}${name}/`, place.value.query)}>{titleOf(name)}</a>
                  </li>
                ))}
            </ul>
          </section>
        ))
      )}
    </>
  );
}

function mayBeMade(name: string): boolean {
  const collection = collections.value.get(name);
  return collection?.isCreatedHere === true && mayEver(collection.creators);
}

function Making({ list }: { readonly list: string }): JSX.Element | null {
  const { value: answer } = useAnswer<Description>('OPTIONS', `/api/${list}/`);
  const collection = collections.value.get(list);
  if (!answer || !collection) return <p aria-busy="true">{t('Loading…')}</p>;
  const post = answer.isOk ? answer.body.actions?.POST : undefined;
  if (!post) return <p class="problem">{t('Nothing of this kind is made here.')}</p>;
  return (
    <div class="narrow">
      <CreationForm
        collection={collection}
        post={post}
        given={Object.fromEntries(place.value.query)}
        onMade={async (made) => go(hrefOfLink(textOf(made, 'url')).slice(1))}
      />
    </div>
  );
}

/** What people want to see first of a resource. */
export function ResourceOverview({ resource }: { readonly resource: Item }): JSX.Element {
  return (
    <>
      {resource.is_simulated === true && (
        <p class="states">
          <State value={t('Simulated')} />{' '}
          {isStaff.value && (
            <PostForm
              title={t('Change at the provider')}
              path="/api/simulator/drift/"
              given={{ resource: textOf(resource, 'url') }}
              done={async () => undefined}
            />
          )}
        </p>
      )}
      <Measurements resource={resource} />
      <Listing
        title={t('History')}
        path="/events/"
        query={new URLSearchParams({ scope: textOf(resource, 'url') }).toString()}
        empty={t('Nothing has happened yet.')}
        lines={(events) => <EventLines events={events} />}
      />
    </>
  );
}
