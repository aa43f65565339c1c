/** The API explorer: every list by its API name, with the response, its headers and its metadata. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isItem, itemsIn, pathOf, problemOf, request, textOf } from '../api/api.ts';
import { base } from '../api/connection.ts';
import { useRequest } from '../api/reading.ts';
import { go, hrefOf, place } from '../api/route.ts';
import { collections } from '../api/session.ts';
import { Callout, Card, Loading } from '../components/card.tsx';
import { CopyButton, Source } from '../components/copy.tsx';
import { Icon } from '../components/icons.tsx';
import { PageHeader } from '../components/page.tsx';
import { Badge } from '../components/status.tsx';
import { PlainTable } from '../components/table.tsx';
import { hasWords } from '../format/text.ts';
import { fieldLabel } from '../i18n/labels.ts';
import { compareTexts, numberText, plural, t, titleOf } from '../i18n/words.ts';

const address = '/all/';

const hrefOfRequest = (path: string): string => hrefOf(address, { path });

export function Explorer(): JSX.Element {
  const path = place.value.query.get('path') ?? '';
  const list = /^\/api\/([a-z-]+)\//.exec(path)?.[1] ?? '';
  return (
    <>
      <PageHeader
        title={t('API explorer')}
        lead={t('Every list and field by its API name, including those not shown on other pages.')}
        actions={
          <>
            <a class="btn" href="docs/?format=openapi" target="_blank" rel="noreferrer">
              <Icon name="download" />
              {t('OpenAPI')}
            </a>
            <a class="btn" href="docs/">
              <Icon name="documentation" />
              {t('Documentation')}
            </a>
          </>
        }
      />
      <div class="aside-left">
        <Endpoints current={list} />
        <div class="stack">{list === '' ? <Overview /> : <Exchange key={path} path={path} list={list} />}</div>
      </div>
    </>
  );
}

/** Providers by the prefix of their lists. */
const providers = ['openstack', 'digitalocean', 'aws', 'gitlab', 'jira', 'oracle'];

const sectionOf = (name: string): string => providers.find((provider) => name.split('-')[0] === provider) ?? '';

/** The lists by provider with a search field, or a picker on narrow screens. */
function Endpoints({ current }: { readonly current: string }): JSX.Element {
  const [query, setSought] = useState('');
  const aside = useRef<HTMLElement>(null);
  const names = [...collections.value.keys()].sort();
  const counts = useCounts(names, aside);
  const matches = names.filter((name) => hasWords(`${name} ${titleOf(name)}`, query));
  return (
    <>
      <select
        class="select only-narrow"
        aria-label={t('Lists')}
        value={current}
        onInput={(event) => go(address, { path: `/api/${event.currentTarget.value}/` })}
      >
        <option value="">{t('Choose…')}</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <aside ref={aside} class="card not-narrow" aria-label={t('Lists')}>
        <div class="in">
          <input
            type="search"
            class="input"
            aria-label={t('Search the API')}
            placeholder={t('Search the API')}
            value={query}
            onInput={(event) => setSought(event.currentTarget.value)}
          />
          {['', ...providers].map((section) => {
            const own = matches.filter((name) => sectionOf(name) === section);
            return (
              own.length > 0 && (
                <section key={section} class="nav">
                  <h2>{section === '' ? t('General') : titleOf(section)}</h2>
                  <ul>
                    {own.map((name) => (
                      <li key={name}>
                        <a href={hrefOfRequest(`/api/${name}/`)} aria-current={name === current ? 'true' : undefined}>
                          <code>{name}</code>
                          {counts[name] !== undefined && <span class="count">{numberText(counts[name])}</span>}
                        </a>
                      </li>
                    ))}
                  </ul>
                </section>
              )
            );
          })}
          {matches.length === 0 && <p class="note">{t('Nothing matches.')}</p>}
        </div>
      </aside>
    </>
  );
}

/** Number of lists whose objects are counted at the same time. */
const parallelCounts = 6;

/** Counts the objects of lists once, while the element with them is displayed. */
function useCounts(
  names: readonly string[],
  element: { readonly current: HTMLElement | null },
): Readonly<Record<string, number>> {
  const [counts, setCounts] = useState<Readonly<Record<string, number>>>({});
  useEffect(() => {
    let isOpen = true;
    const countAll = async (): Promise<void> => {
      for (let start = 0; isOpen && start < names.length; start += parallelCounts) {
        const entries = await Promise.all(names.slice(start, start + parallelCounts).map(countOf));
        setCounts((before) => ({ ...before, ...Object.fromEntries(entries.filter((entry) => entry !== undefined)) }));
      }
    };
    // Narrow screens have a select instead.
    if (element.current?.checkVisibility()) void countAll();
    return () => {
      isOpen = false;
    };
  }, []);
  return counts;
}

async function countOf(name: string): Promise<readonly [name: string, count: number] | undefined> {
  const { headers } = await request<unknown>('HEAD', `/api/${name}/?page_size=1`);
  const count = headers.get('X-Result-Count');
  return count === null ? undefined : [name, Number(count)];
}

/** The lists and their pages in the console, shown before one is selected. */
function Overview(): JSX.Element {
  const all = [...collections.value.values()].sort((a, b) => compareTexts(a.title, b.title));
  return (
    <Card title={t('Pages by list')}>
      <ul class="columns">
        {all.map(({ name, title }) => (
          <li key={name}>
            <a href={hrefOf(`/${name}/`)}>{title}</a>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** A request with its response. */
function Exchange({ path, list }: { readonly path: string; readonly list: string }): JSX.Element {
  const { value: response } = useRequest<unknown>('GET', path);
  const [typed, setTyped] = useState(path);
  const url = new URL(path.slice(1), base).href;
  const count = response?.headers.get('X-Result-Count');
  const body = response?.body;
  const items = Array.isArray(body) ? itemsIn(body) : isItem(body) ? [body] : [];
  return (
    <>
      <section class="card" aria-label={t('Request')}>
        <form
          class="in request"
          onSubmit={(event) => {
            event.preventDefault();
            if (typed.startsWith('/api/')) go(address, { path: typed });
          }}
        >
          <Badge tone="good" icon="">
            {'GET'}
          </Badge>
          <input
            class="input mono"
            aria-label={t('Path')}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <button type="submit" class="btn">
            {t('Send')}
          </button>
        </form>
        <div class="in row">
          <span class="note">
            {response && `${response.status}`}
            {count !== null &&
              count !== undefined &&
              ` · ${plural(Number(count), '{count} object', '{count} objects')}`}
          </span>
          <span class="row more">
            <a href={hrefOf(path.slice('/api'.length).replace(/\?.*/, ''))}>{titleOf(list)}</a>
            <span class="note">
              {t('URL')} <CopyButton text={url} what={t('URL')} />
            </span>
            <span class="note">
              {t('cURL')} <CopyButton text={`curl -H "Authorization: Token $TOKEN" '${url}'`} what={t('cURL')} />
            </span>
          </span>
        </div>
        {!response ? (
          <Loading />
        ) : response.isOk ? (
          <Values items={items} isList={Array.isArray(body)} />
        ) : (
          <Callout tone="bad">{problemOf(body)}</Callout>
        )}
        {response && (
          <>
            <Fold title={t('JSON')}>{() => <Source isTall text={JSON.stringify(body, undefined, 2)} />}</Fold>
            <Fold title={t('Headers')}>
              {() => (
                <Source isTall text={[...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')} />
              )}
            </Fold>
            <Fold title={t('Metadata ({method})', { method: 'OPTIONS' })}>{() => <Metadata path={path} />}</Fold>
          </>
        )}
      </section>
      {items[0] && <Fields item={items[0]} />}
    </>
  );
}

const maxColumns = 5;

/** The scalar fields of objects by their API names, or all fields of a single object. */
function Values({
  items,
  isList,
}: {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly isList: boolean;
}): JSX.Element | null {
  const [first] = items;
  if (!first) return null;
  if (!isList)
    return (
      <PlainTable label={t('Response')} heads={[t('Fields'), t('Value')]}>
        {Object.entries(first).map(([name, value]) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td class="mono">{JSON.stringify(value)}</td>
          </tr>
        ))}
      </PlainTable>
    );
  const isPlain = (name: string): boolean => typeof first[name] !== 'object' && !/^url$|_url$|uuid$/.test(name);
  const names = Object.keys(first).filter((name) => isPlain(name) && !/^https?:/.test(textOf(first, name)));
  const columns = [...names].sort((a, b) => Number(b === 'name') - Number(a === 'name')).slice(0, maxColumns);
  return (
    <PlainTable label={t('Response')} heads={columns}>
      {items.map((item) => (
        <tr key={textOf(item, 'url') || JSON.stringify(item)}>
          {columns.map((name, index) => (
            <td key={name} class={typeof item[name] === 'number' ? 'num mono' : 'mono'}>
              {index === 0 && textOf(item, 'url') !== '' ? (
                <a href={hrefOfRequest(pathOf(textOf(item, 'url')))}>{String(item[name])}</a>
              ) : (
                String(item[name] ?? '–')
              )}
            </td>
          ))}
        </tr>
      ))}
    </PlainTable>
  );
}

/** A collapsed section whose content is rendered on opening. */
function Fold({
  title,
  children,
}: {
  readonly title: string;
  readonly children: () => ComponentChildren;
}): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="fold" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name="next" size="sm" /> {title}
      </summary>
      {isOpen && <div class="in">{children()}</div>}
    </details>
  );
}

function Metadata({ path }: { readonly path: string }): JSX.Element {
  const { value: response } = useRequest<unknown>('OPTIONS', path.replace(/\?.*/, ''));
  return response ? <Source isTall text={JSON.stringify(response.body, undefined, 2)} /> : <Loading />;
}

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

/** The fields of an object with their types and labels in the console. */
function Fields({ item }: { readonly item: Readonly<Record<string, unknown>> }): JSX.Element {
  const entries = Object.entries(item);
  return (
    <Card title={t('Fields')} count={entries.length}>
      <dl class="facts">
        {entries.map(([name, value]) => (
          <>
            <dt key={name}>
              <code>{name}</code>
            </dt>
            <dd key={`${name} type`}>
              {typeOf(value)} <span class="muted">{fieldLabel(name) ? titleOf(name) : ''}</span>
            </dd>
          </>
        ))}
      </dl>
    </Card>
  );
}
