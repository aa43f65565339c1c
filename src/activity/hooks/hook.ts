import * as v from 'valibot';
import { restrictedText, seesAll } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { anyOf, Right, staff, userIn, visibleTo } from '../../kernel/access/right.ts';
import { newUuid } from '../../kernel/app.ts';
import { type Columns, changesOf } from '../../kernel/collection/changes.ts';
import { type Collection, type Created, collection, type Row } from '../../kernel/collection/collection.ts';
import type { Operation } from '../../kernel/collection/endpoint.ts';
import {
  type Fields,
  inputOf,
  jsonOrText,
  messages,
  notAList,
  readOnly,
  readOnlyText,
  readOnlyTime,
  uuidField,
  type Values,
  type WritableField,
} from '../../kernel/collection/field.ts';
import { booleanColumn, type Filters, uuidOf } from '../../kernel/collection/filter.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import type { Parameters } from '../../kernel/collection/listing.ts';
import { computedValue, constant, plainValue } from '../../kernel/collection/representation.ts';
import { boolean } from '../../kernel/collection/values.ts';
import type { Database } from '../../kernel/db/database.ts';
import { raw, sql, type Value } from '../../kernel/db/sql.ts';
import { conflict, invalidRequest } from '../../kernel/http/error.ts';
import { eventGroups, eventTypes, typesOfGroups } from '../events/catalogue.ts';
import type { HookKind } from './due.ts';
import { cancelDeliveries } from './queue.ts';

export interface HookRow extends Row {
  readonly kind: HookKind;
  readonly user_id: number;
  readonly is_active: number;
  readonly pending: number;
  /** Whether the receiver has agreed to the mails. Only email hooks require it. */
  readonly is_confirmed: number;
  readonly event_types: string;
  readonly event_groups: string;
  /** Address of an email hook; null for other kinds. */
  readonly email: string | null;
  /** Digest of the token of a push hook, for comparison; null without one. */
  readonly token_digest: Uint8Array | null;
  /** Signing secret of a web hook, sealed for its uuid; null for other kinds. */
  readonly secret: Uint8Array | null;
  /** Format and signature of the requests of a web hook. */
  readonly content_type: string | null;
  readonly format: string;
  readonly signature: string;
  /** Limits of a web hook: JSON lists of UUIDs. */
  readonly customers: string;
  readonly projects: string;
  readonly is_limited: number;
}

/** The right to change a hook and manage its deliveries. */
export const hookManagers = anyOf(userIn('user_id', 'the author of the hook'), staff);

/**
 * Condition on the alias `h`: the caller can see the hook and its deliveries. Hooks of staff contain data for staff only, so
 * their authors do not see them where their staff rights do not apply.
 */
export const visibleHooks = visibleTo('the author of the hook; staff and global support', (caller) => {
  if (seesAll(caller)) return raw('TRUE');
  return caller.isRestricted ? raw('FALSE') : sql`h.user_id = ${caller.id}`;
});

/** The right to create hooks. Restricted staff may not, because their hooks would deliver data for staff only. */
const authors = new Right('any authenticated user, for themselves', ({ caller }) =>
  caller.isRestricted ? restrictedText : undefined,
);

/** Specifies one kind of hook. */
interface HookKindSpec {
  readonly kind: HookKind;
  readonly path: string;
  /** The value of `hook_type`. */
  readonly type: string;
  readonly name: string;
  readonly description: string;
  readonly fields: Fields;
  readonly filters: Filters;
  /** A valid body for the documentation. */
  readonly example: Readonly<Record<string, unknown>>;
  /** Returns generated columns of a new or changed hook. */
  readonly generate?: (request: Request, columns: Columns, hook: Owned) => Generated;
  /** Converts the columns of a body to the stored columns. Throws 400. */
  readonly stored?: (request: Request, columns: Columns, hook: Owned) => Columns;
  /** Runs after storing a body, even if it changed nothing. */
  readonly afterStore?: (request: Request, columns: Columns, hook: Owned & { readonly id: number }) => void;
  /** Additional error responses of this kind, for the documentation. */
  readonly rejections?: Operation['rejections'];
  /** SQL parameters of the representation, except in the response to a creation. */
  readonly parameters?: Parameters;
}

/** Properties of a hook that are known before it is stored. */
interface Owned {
  readonly uuid: string;
  /** The author of the hook. */
  readonly user_id: number;
  /** The hook before a change; undefined for a new hook. */
  readonly row?: HookRow;
}

interface Generated {
  readonly columns: Readonly<Record<string, Value>>;
  /** SQL parameters of the representation in the response to this request. */
  readonly parameters: Parameters;
}

export const nothing: Generated = { columns: {}, parameters: {} };

/** Creates the collection of one kind of hook. The kinds share a table and differ only in how they deliver. */
export function hookCollection(own: HookKindSpec): Collection<CommonFields, HookRow> {
  // The rest of this file uses only the common fields. Fields of a kind are stored as plain columns.
  const fields: CommonFields = { ...commonFields(own.path, own.type), ...own.fields };
  const { parameters } = own;
  return collection<HookRow>()({
    path: own.path,
    kind: own.name,
    description: own.description,
    table: 'hook',
    alias: 'h',
    fields,
    visible: {
      ...visibleHooks,
      condition: (...caller) => sql`h.kind = ${own.kind} AND ${visibleHooks.condition(...caller)}`,
    },
    examples: { create: own.example, replace: own.example, change: { is_active: false } },
    filters: {
      author_uuid: uuidOf('h.user_id', 'user', 'Uuid of the author.'),
      is_active: booleanColumn('h.is_active'),
      ...own.filters,
    },
    orderings: {},
    order: 'h.id',
    ...(parameters && { parameters: () => parameters }),
    create: {
      right: authors,
      rejections: { 409: true, ...own.rejections },
      check: (_, values) => {
        const { event_groups: groups = [], event_types: types = [] } = values;
        const others = 'notification_types' in values ? values.notification_types : [];
        if (groups.length + types.length === 0 && !(Array.isArray(others) && others.length > 0))
          throw invalidRequest('Please specify list of event_types or event_groups.');
      },
      run: (request, values, columns) => create(request, own, values, columns),
    },
    update: {
      right: hookManagers,
      rejections: own.rejections,
      run: (request, row, values, columns) => update(request, own, row, values, columns),
    },
    delete: { right: hookManagers, run: ({ db }, row) => void db.run(sql`DELETE FROM hook WHERE id = ${row.id}`) },
  });
}

/** A list of known values, stored sorted and without duplicates. In a form it is JSON text or a repeated field. */
export const choices = (known: readonly string[], help: string): WritableField<readonly string[], false> => ({
  ...readOnly('list', { type: 'array', items: { type: 'string', enum: known } }, (column) => computedValue(column), {
    help,
  }),
  constraints: {
    child: {
      type: 'choice',
      required: true,
      read_only: false,
      choices: known.map((value) => ({ value, display_name: value })),
    },
  },
  input: inputOf(
    { storedIn: false },
    {
      schema: v.array(
        v.picklist(known, ({ input }) => messages.choice(input)),
        notAList,
      ),
      coerce: (value, form) => (form && value !== null ? choicesOfForm(value) : value),
      resolve: (items) => [...new Set(items)].sort(),
    },
  ),
});

/** Parses a list in a form: JSON text of the list, or the values of the repeated field. */
function choicesOfForm(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== '');
  if (typeof value !== 'string' || value.trim() === '') return [];
  if (!/^\s*[[{"]/.test(value)) return [value.trim()];
  return jsonOrText(value);
}

const commonFields = (path: string, type: string) => ({
  url: selfLink(path, 'h.uuid'),
  uuid: uuidField(),
  is_active: boolean({ fallback: true, help: 'Whether events are delivered.' }),
  author_uuid: readOnlyText(plainValue('(SELECT uuid FROM user WHERE id = h.user_id)')),
  event_types: choices(eventTypes, 'Types of events to deliver.'),
  event_groups: choices(Object.keys(eventGroups), 'Groups of events to deliver. Their types are added to event_types.'),
  created: readOnlyTime(),
  modified: readOnlyTime(),
  hook_type: readOnly('string', { type: 'string', enum: [type] }, constant(JSON.stringify(type))),
});

type CommonFields = ReturnType<typeof commonFields>;

/** The lists of a body. Only web hooks have the last one. */
type Lists = Values<CommonFields> & { readonly notification_types?: readonly string[] };

/** Converts the lists of a body to columns. Adds the types of the groups to the types. */
function listsOf({ event_groups: groups, event_types: types, notification_types: kinds }: Lists): Columns {
  const subscribed = groups ? [...new Set([...typesOfGroups(groups), ...(types ?? [])])].sort() : types;
  return {
    ...(groups && { event_groups: JSON.stringify(groups) }),
    ...(subscribed && { event_types: JSON.stringify(subscribed) }),
    ...(kinds && { notification_types: JSON.stringify(kinds) }),
  };
}

function create(request: Request, own: HookKindSpec, values: Values<CommonFields>, plain: Columns): Created {
  const { db, app } = request;
  rejectTooMany(request);
  const uuid = newUuid(app);
  const hook = { uuid, user_id: request.caller.id };
  const received = { ...plain, ...listsOf(values) };
  const { columns, parameters } = own.generate?.(request, received, hook) ?? nothing;
  const id = db.insert('hook', {
    uuid,
    kind: own.kind,
    user_id: hook.user_id,
    created: request.now,
    modified: request.now,
    event_types: '[]',
    event_groups: '[]',
    ...columns,
    ...(own.stored?.(request, received, hook) ?? received),
  });
  subscribe(db, id);
  own.afterStore?.(request, received, { ...hook, id });
  return { id, parameters };
}

/** Throws 409 if the caller already has hooks_per_user hooks. Staff have no limit. */
function rejectTooMany({ caller, config: { hooks_per_user: limit }, db }: Request): void {
  if (caller.isStaff) return;
  const hookCount = db.count(sql`SELECT count(*) FROM hook WHERE user_id = ${caller.id}`);
  if (hookCount >= limit) throw conflict(`A user may have at most ${limit} hooks.`);
}

function update(
  request: Request,
  own: HookKindSpec,
  row: HookRow,
  values: Values<CommonFields>,
  plain: Columns,
): Parameters {
  const hook = { uuid: row.uuid, user_id: row.user_id, row };
  const received = { ...plain, ...listsOf(values) };
  const { columns, parameters } = own.generate?.(request, received, hook) ?? nothing;
  store(request, row, { ...columns, ...(own.stored?.(request, received, hook) ?? received) });
  own.afterStore?.(request, received, { ...hook, id: row.id });
  return { ...own.parameters, ...parameters };
}

function store(request: Request, row: HookRow, columns: Columns): void {
  const { db } = request;
  const changes = changesOf(row, columns);
  if (Object.keys(changes).length === 0) return;
  // An enabled or changed hook starts without past failures.
  db.update('hook', row.id, { ...changes, failing_since: null, modified: request.now });
  if (changes.event_types !== undefined) {
    db.run(sql`DELETE FROM hook_event_type WHERE hook_id = ${row.id}`);
    subscribe(db, row.id);
  }
  if (changes.is_active === 0) cancelDeliveries(request, sql`id = ${row.id}`, 'The hook was disabled.');
}

/** Indexes a hook under each of its event types. */
function subscribe(db: Database, hook: number): void {
  db.run(sql`
    INSERT INTO hook_event_type (type, hook_id)
    SELECT t.value, h.id FROM hook h, json_each(h.event_types) t WHERE h.id = ${hook}`);
}
