/** The audit trail as a page, and the history of an object as a tab. */
import type { JSX } from 'preact';
import { type Item, isItem, itemsIn, problemOf, request, textOf } from '../api/api.ts';
import { described, responseOf } from '../api/connection.ts';
import type { Filter } from '../api/document.ts';
import { useLinked, useReading } from '../api/reading.ts';
import { hrefOf, place, withParameter } from '../api/route.ts';
import { collections, hasPath, isStaff, ownedCustomers } from '../api/session.ts';
import { Empty, ErrorCallout, Fact, Facts, Loading, NoItems } from '../components/card.tsx';
import { Code, CopyButton, Id, Source } from '../components/copy.tsx';
import { Drawer } from '../components/drawer.tsx';
import { Filters } from '../components/filters.tsx';
import { Icon } from '../components/icons.tsx';
import { PageHeader } from '../components/page.tsx';
import { DownloadButton } from '../components/post.tsx';
import { Timeline } from '../components/timeline.tsx';
import { nameOf, Time } from '../components/values.tsx';
import { choiceText } from '../format/text.ts';
import { actionTitle, t, titleOf } from '../i18n/words.ts';
import { ownValue } from '../item.ts';
import { instantIn, PeriodChip } from './event-period.tsx';

const list = '/api/audit/';
const exportPath = '/api/audit/export/';
const pageSize = 30;

/** Whether the user may read records about a customer: staff and owners of that customer. */
export const mayReadTrail = (customer?: string): boolean =>
  isStaff.value || (customer === undefined ? ownedCustomers.value.size > 0 : ownedCustomers.value.has(customer));

const filterOf = (name: string, choices: readonly string[] = []): Filter => ({
  name,
  help: '',
  type: choices.length > 0 ? 'choice' : 'text',
  choices,
  isLink: false,
});
const filters: readonly Filter[] = [
  ...['actor', 'operation', 'object', 'customer', 'project', 'chain'].map((name) => filterOf(name)),
  filterOf('outcome', ['done', 'refused']),
];

/** Parameters of the address that are not filters. */
const ownParameters = ['record', 'before', 'from', 'to'];

/** Records, and the query of the next page. */
interface Records {
  readonly records: readonly Item[];
  readonly next: string | undefined;
  readonly problem?: string;
}

async function readRecords(query: string): Promise<Records> {
  const response = await request<readonly Item[]>('GET', `${list}?${query}`);
  if (!response.isOk) return { records: [], next: undefined, problem: problemOf(response.body) };
  const [, next] = /<[^>]*[?&]before=([^&>]+)[^>]*>; rel="next"/.exec(response.headers.get('Link') ?? '') ?? [];
  return { records: response.body, next: next && decodeURIComponent(next) };
}

/** Converts query parameters of the address to those of the API. */
function sentQuery(query: URLSearchParams): URLSearchParams {
  const sent = new URLSearchParams({ page_size: String(pageSize) });
  for (const [name, value] of query) {
    const seconds = /^(from|to)$/.test(name) ? instantIn(value) : undefined;
    if (seconds !== undefined) sent.set(name, new Date(seconds * 1000).toISOString());
    else if (name === 'before' || filters.some((filter) => filter.name === name)) sent.append(name, value);
  }
  return sent;
}

/** The audit trail. Owners see only the records about their customers. */
export function AuditPage(): JSX.Element {
  const { path, query } = place.value;
  const sent = sentQuery(query).toString();
  const { value: page } = useReading(`audit ${sent}`, () => readRecords(sent));
  const isFiltered = [...query.keys()].some((name) => name !== 'record' && name !== 'before');
  const open = page?.records.find((record) => textOf(record, 'hash') === query.get('record'));
  return (
    <>
      <PageHeader
        title={t('Audit trail')}
        lead={t('Who changed what, and when. Each record is chained to the one before it.')}
        actions={isStaff.value && hasPath(exportPath) && <Export />}
      />
      <Filters
        path={path}
        filters={filters}
        hidden={ownParameters}
        facets={['actor', 'operation', 'outcome', 'object']}
        first={<PeriodChip />}
      />
      {!page ? (
        <Loading />
      ) : page.problem ? (
        <ErrorCallout text={page.problem} />
      ) : page.records.length === 0 && page.next === undefined ? (
        <NoItems cleared={isFiltered ? hrefOf('/audit/') : undefined}>
          <Empty icon="audit" title={t('Nothing is recorded yet.')} />
        </NoItems>
      ) : (
        <div class={open ? 'with-drawer' : undefined}>
          <section class="card" aria-label={t('Audit trail')}>
            <Timeline entries={page.records.map((record) => entryOf(record, withRecord(textOf(record, 'hash'))))} />
            <Pages next={page.next} />
          </section>
          {open && <OpenRecord record={open} records={page.records} />}
        </div>
      )}
    </>
  );
}

/** The address of the page with a record open beside the list; an empty hash closes it. */
const withRecord = (hash: string): string => hrefOf('/audit/', withParameter('record', hash));

/** The address of the records before a position; empty: of the newest. */
const withBefore = (before: string): string => hrefOf('/audit/', withParameter('before', before, ['record']));

/** Links to older and to the newest records. There is no total. */
function Pages({ next }: { readonly next: string | undefined }): JSX.Element | null {
  if (next === undefined && !place.value.query.has('before')) return null;
  return (
    <nav aria-label={t('Pages')} class="pager">
      <span />
      <span class="row tight">
        {place.value.query.has('before') && (
          <a class="btn sm" href={withBefore('')}>
            {t('Show newest')}
          </a>
        )}
        {next !== undefined && (
          <a class="btn sm" href={withBefore(next)}>
            {t('Show older')}
          </a>
        )}
      </span>
    </nav>
  );
}

/** Downloads the whole trail with its signed head. */
const Export = (): JSX.Element => (
  <DownloadButton
    title={t('Export')}
    fileName="audit-trail.ndjson"
    read={() => responseOf<Blob>(described.request('get', exportPath, { headers: { Accept: null }, parseAs: 'blob' }))}
  />
);

const memberOf = (record: Item, name: string): Item => {
  const member = record[name];
  return isItem(member) ? member : {};
};

const changesIn = (record: Item): readonly Item[] => itemsIn(memberOf(record, 'private').changes);

/** Returns the name or the kind of the actor. */
function actorText(record: Item): string {
  const kinds: Readonly<Record<string, string>> = {
    cli: t('Command line'),
    job: t('The service'),
    anonymous: t('Not signed in'),
  };
  const kind = textOf(memberOf(record, 'actor'), 'kind');
  return textOf(memberOf(record, 'private'), 'actor_name') || (kinds[kind] ?? t('A user'));
}

/** Returns the means by which the actor acted, such as an API key. */
function viaText(record: Item): string {
  const kinds: Readonly<Record<string, string>> = {
    session: t('Session'),
    api_key: t('API key'),
    impersonation: t('Impersonation'),
    cli: t('Command line'),
    job: t('Job'),
    password: t('Password'),
    passkey: t('Passkey'),
    operator: t('Operator token'),
    recovery: t('Recovery link'),
    saml: 'SAML',
    oidc: 'OpenID Connect',
  };
  const kind = textOf(memberOf(record, 'via'), 'kind');
  return kinds[kind] ?? kind;
}

/** A link to a user, with the name once it is loaded. */
function UserLink({ uuid }: { readonly uuid: string }): JSX.Element {
  const user = useLinked(`/api/users/${uuid}/`);
  return <a href={hrefOf(`/users/${uuid}/`)}>{user ? nameOf(user) : uuid.slice(0, 8)}</a>;
}

/** The object of a record, linked if it has a page. */
function ObjectOf({ record }: { readonly record: Item }): JSX.Element | null {
  const object = memberOf(record, 'object');
  const [type, uuid] = [textOf(object, 'type'), textOf(object, 'uuid')];
  if (type === '') return null;
  const name = textOf(memberOf(record, 'private'), 'object_name') || `${titleOf(type)} ${uuid.slice(0, 8)}`;
  return collections.value.get(type)?.hasDetail ? (
    <a href={hrefOf(`/${type}/${uuid}/`)}>{name}</a>
  ) : (
    <span>{name}</span>
  );
}

/** Titles of login operations, whose names have no API verb. */
const loginTitles = (): Readonly<Record<string, string>> => ({
  passwordLogin: t('Sign in with a password'),
  passkeyLogin: t('Sign in with a passkey'),
  secondFactorLogin: t('Confirm with a second factor'),
  samlLoginComplete: t('Sign in with SAML'),
  getOpenIDConnectLoginComplete: t('Sign in with OpenID Connect'),
  logout: t('Sign out'),
  passwordReset: t('Set a new password'),
  forgottenPassword: t('Ask for a new password'),
  initialPassword: t('Set the first password'),
});

/** Verbs that start operation names. */
const verbs =
  /^(acknowledge|approve|attach|cancel|close|create|delete|detach|extend|link|patch|pull|redeliver|reject|restart|restore|retry|rotate|send|start|stop|unlink|update)(?=[A-Z]|$)/;

/** Returns a title such as `Edit`; undefined for operations without one. */
function operationTitle(operation: string): string | undefined {
  const verb = verbs.exec(operation)?.[0];
  return ownValue(loginTitles(), operation) ?? (verb && actionTitle(verb === 'patch' ? 'update' : verb));
}

/** Converts a record to a timeline entry: actor, operation, object and changes. Repeated rejections show their number. */
function entryOf(record: Item, href?: string) {
  const isRefused = textOf(record, 'outcome') === 'refused';
  const repeated = Number(record.repeated ?? 0);
  return {
    key: textOf(record, 'hash'),
    icon: isRefused ? 'bad' : 'audit',
    tone: isRefused ? ('bad' as const) : undefined,
    title: (
      <>
        <b>{actorText(record)}</b>: <Operation record={record} /> <ObjectOf record={record} />
      </>
    ),
    sub: (
      <>
        {isRefused && <span class="bad-ink">{t('Refused')} </span>}
        {isRefused && repeated > 0 && <span>{t('{count} more before', { count: repeated })} </span>}
        {record.as !== null && <span>{t('Impersonation')} </span>}
        {!Object.hasOwn(loginTitles(), textOf(record, 'operation')) && <Diff changes={changesIn(record).slice(0, 5)} />}
      </>
    ),
    time: textOf(record, 'at'),
    href,
    isOpen: href !== undefined && textOf(record, 'hash') === place.value.query.get('record'),
  };
}

const Operation = ({ record }: { readonly record: Item }): JSX.Element => (
  <>{operationTitle(textOf(record, 'operation')) ?? <code>{textOf(record, 'operation')}</code>}</>
);

/** Formats a value in a change; empty for none. */
function valueText(field: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (field === 'event') return choiceText(String(value));
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The changed fields with old and new values. */
const Diff = ({ changes }: { readonly changes: readonly Item[] }): JSX.Element => (
  <>
    {changes.map((change) => {
      const field = textOf(change, 'field');
      const [from, to] = [valueText(field, change.from), valueText(field, change.to)];
      return (
        <span key={field} class="diff">
          {titleOf(field)}
          {from !== '' && <del>{from}</del>}
          {to !== '' && <ins>{to}</ins>}
        </span>
      );
    })}
  </>
);

/** One record beside the list. */
function OpenRecord({ record, records }: { readonly record: Item; readonly records: readonly Item[] }): JSX.Element {
  const index = records.indexOf(record);
  const hidden = memberOf(record, 'private');
  const actor = textOf(memberOf(record, 'actor'), 'uuid');
  const object = memberOf(record, 'object');
  const changes = changesIn(record);
  const show = (hash: string): void => {
    location.hash = withRecord(hash);
  };
  return (
    <Drawer
      title={operationTitle(textOf(record, 'operation')) ?? textOf(record, 'operation')}
      actions={<CopyButton text={location.href} what={t('Link')} />}
      onClose={() => show('')}
      onMove={(steps) => {
        const next = records[index + steps];
        if (next) show(textOf(next, 'hash'));
      }}
    >
      <div class="in stack">
        <Facts>
          <Fact label={titleOf('at')}>
            <Time value={textOf(record, 'at')} exact />
          </Fact>
          <Fact label={titleOf('actor')}>
            {actor === '' ? actorText(record) : <a href={hrefOf(`/users/${actor}/`)}>{actorText(record)}</a>}
          </Fact>
          {record.as !== null && (
            <Fact label={titleOf('as')}>
              <UserLink uuid={textOf(record, 'as')} />
            </Fact>
          )}
          {viaText(record) !== '' && <Fact label={titleOf('via')}>{viaText(record)}</Fact>}
          <Fact label={t('Action')}>
            <Code text={textOf(record, 'operation')} what={t('Action')} />
          </Fact>
          <Fact label={titleOf('outcome')}>
            {textOf(record, 'outcome') === 'refused' ? t('Refused') : t('Done')} {textOf(record, 'status')}
          </Fact>
          {textOf(object, 'type') !== '' && (
            <Fact label={titleOf('object')}>
              <ObjectOf record={record} />
            </Fact>
          )}
          {textOf(hidden, 'address') !== '' && (
            <Fact label={titleOf('address')}>
              <Code text={textOf(hidden, 'address')} what={titleOf('address')} />
            </Fact>
          )}
          <Fact label={titleOf('sequence')}>{textOf(record, 'sequence')}</Fact>
          <Fact label={titleOf('hash')}>
            <Id id={textOf(record, 'hash')} what={titleOf('hash')} />
          </Fact>
        </Facts>
        {record.private === null && <p class="note">{t('Personal data was removed from this record.')}</p>}
        {changes.length > 0 && (
          <div>
            <h3>{titleOf('changes')}</h3>
            <p class="small">
              <Diff changes={changes} />
            </p>
          </div>
        )}
        <div class="row">
          {textOf(object, 'uuid') !== '' && (
            <a class="btn sm" href={hrefOf('/audit/', { object: textOf(object, 'uuid') })}>
              {t('History of the object')}
            </a>
          )}
          {actor !== '' && (
            <a class="btn sm" href={hrefOf('/audit/', { actor })}>
              {t('All records of this actor')}
            </a>
          )}
        </div>
      </div>
      <details class="fold">
        <summary>
          <Icon name="next" size="sm" /> {t('Raw record')}
        </summary>
        <Source text={JSON.stringify(record, undefined, 2)} />
      </details>
    </Drawer>
  );
}

/** The records of an object, newest first. */
export function History({ uuid }: { readonly uuid: string }): JSX.Element {
  const query = new URLSearchParams({ object: uuid, page_size: String(pageSize) }).toString();
  const { value: page } = useReading(`audit ${query}`, () => readRecords(query));
  if (!page) return <Loading />;
  if (page.problem) return <ErrorCallout text={page.problem} />;
  return (
    <section class="card" aria-label={t('History')}>
      {page.records.length === 0 ? (
        <p class="in note">{t('Nothing is recorded yet.')}</p>
      ) : (
        <Timeline entries={page.records.map((record) => entryOf(record))} />
      )}
      {page.next !== undefined && (
        <div class="pager">
          <span />
          <a class="btn sm" href={hrefOf('/audit/', { object: uuid, before: page.next })}>
            {t('Show older')}
          </a>
        </div>
      )}
    </section>
  );
}
