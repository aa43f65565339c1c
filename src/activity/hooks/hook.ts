import * as v from 'valibot';
import { type Caller, seesAll } from '../../kernel/access/caller.ts';
import { newUuid } from '../../kernel/access/deployment.ts';
import type { Request } from '../../kernel/access/request.ts';
import { changesOf, storedValues } from '../../kernel/collection/changes.ts';
import { type Collection, collection, type Row } from '../../kernel/collection/collection.ts';
import {
  type Field,
  FieldError,
  type Fields,
  messages,
  shown,
  shownText,
  shownTime,
  uuidField,
  type Values,
} from '../../kernel/collection/field.ts';
import { type Filters, truth, uuidOf } from '../../kernel/collection/filter.ts';
import { jsonOrText } from '../../kernel/collection/form.ts';
import { selfLink } from '../../kernel/collection/links.ts';
import { computedValue, constant, plainValue } from '../../kernel/collection/representation.ts';
import { boolean } from '../../kernel/collection/values.ts';
import type { Database } from '../../kernel/db/database.ts';
import { raw, type Sql, sql, type Value } from '../../kernel/db/sql.ts';
import { kindName } from '../../kernel/http/body.ts';
import { invalidRequest } from '../../kernel/http/error.ts';
import { eventGroups, eventTypes, typesOfGroups } from '../events/catalogue.ts';
import type { HookKind } from './due.ts';
import { cancelDeliveries } from './queue.ts';

export interface HookRow extends Row {
  readonly kind: HookKind;
  readonly user_id: number;
  readonly is_active: number;
  readonly pending: number;
  readonly event_types: string;
  readonly event_groups: string;
}

/** Whether the caller may change a hook: its author, and staff. */
export const mayManage = ({ caller }: Pick<Request, 'caller'>, hook: HookRow): boolean =>
  caller.isStaff || hook.user_id === caller.id;

/** What is particular to one kind of hook. */
interface HookKindSpec<F extends Fields> {
  readonly kind: HookKind;
  readonly path: string;
  /** What `hook_type` says. */
  readonly type: string;
  readonly name: string;
  readonly description: string;
  readonly fields: F;
  readonly filters: Filters;
  /** A valid body for the documentation. */
  readonly example: Readonly<Record<string, unknown>>;
  /** Columns of a new hook that the body does not bring. */
  readonly columns?: (request: Request, uuid: string) => Readonly<Record<string, Value>>;
  readonly parameters?: (request: Request) => Readonly<Record<string, Value>>;
}

/** The collection of one kind of hook: all kinds share a table, and everything but where and how they deliver. */
export function hookCollection<F extends Fields>(own: HookKindSpec<F>): Collection<Fields, HookRow> {
  const fields: Fields = { ...commonFields(own.path, own.type), ...own.fields };
  return collection<HookRow>()({
    path: own.path,
    kind: own.name,
    description: own.description,
    table: 'hook',
    alias: 'h',
    fields,
    visible: (caller) => sql`h.kind = ${own.kind} AND ${visibleHooks(caller)}`,
    who: {
      read: 'The author; staff and global support.',
      create: 'Everybody, for himself.',
      update: 'The author, and staff.',
      delete: 'The author, and staff.',
    },
    examples: { create: own.example, replace: own.example, change: { is_active: false } },
    filters: {
      author_uuid: uuidOf('h.user_id', 'user', 'Uuid of the author.'),
      is_active: truth('h.is_active'),
      ...own.filters,
    },
    orderings: {},
    order: 'h.id',
    ...(own.parameters && { parameters: own.parameters }),
    create: {
      check: (_, values) => {
        const { event_groups: groups = [], event_types: types = [] } = values as Subscription;
        if (groups.length + types.length === 0)
          throw invalidRequest('Please specify list of event_types or event_groups.');
      },
      run: (request, values) => {
        const uuid = newUuid(request.deployment);
        const columns = {
          event_types: '[]',
          event_groups: '[]',
          ...own.columns?.(request, uuid),
          ...columnsOf(values),
        };
        const id = request.db.insert('hook', {
          uuid,
          kind: own.kind,
          user_id: request.caller.id,
          created: request.now,
          modified: request.now,
          ...columns,
        });
        subscribe(request.db, id, columns.event_types as string);
        return id;
      },
    },
    update: { may: mayManage, run: (request, row, values) => update(request, row, columnsOf(values)) },
    delete: { may: mayManage, run: ({ db }, row) => void db.run(sql`DELETE FROM hook WHERE id = ${row.id}`) },
  });
}

/** Condition on the alias `h`: the caller sees the hook. */
const visibleHooks = (caller: Caller): Sql => (seesAll(caller) ? raw('TRUE') : sql`h.user_id = ${caller.id}`);

/** A list of texts from a vocabulary; sorted, each once. In a form it is JSON text or a repeated field. */
const choices = (known: readonly string[], help: string): Field<readonly string[]> => ({
  ...shown('list', { type: 'array', items: { type: 'string', enum: known } }, (column) => computedValue(column)),
  help,
  facts: {
    child: {
      type: 'choice',
      required: true,
      read_only: false,
      choices: known.map((value) => ({ value, display_name: value })),
    },
  },
  input: {
    schema: v.array(v.picklist(known)),
    nullable: false,
    required: false,
    create: true,
    update: true,
    parse: (value, _, form) => {
      if (value === null) throw new FieldError([messages.null]);
      const items = form ? choicesOfForm(value) : value;
      if (!Array.isArray(items)) throw new FieldError([`Expected a list of items but got type "${kindName(items)}".`]);
      const unknown = items.filter((item) => !known.includes(item as string));
      if (unknown.length > 0) throw new FieldError([...new Set(unknown.map(messages.choice))]);
      return [...new Set(items as string[])].sort();
    },
  },
});

/** The items of a list in a form: JSON text of the list, or the values of the repeated field. */
function choicesOfForm(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== '');
  if (typeof value !== 'string' || value.trim() === '') return [];
  if (!/^\s*[[{"]/.test(value)) return [value.trim()];
  return jsonOrText(value);
}

interface Subscription {
  readonly event_types?: readonly string[];
  readonly event_groups?: readonly string[];
}

const commonFields = (path: string, type: string) => ({
  url: selfLink(path, 'h.uuid'),
  uuid: uuidField(),
  is_active: boolean({ help: 'Whether events are delivered.' }),
  author_uuid: shownText(plainValue('(SELECT uuid FROM user WHERE id = h.user_id)')),
  event_types: choices(eventTypes, 'Types of events to deliver.'),
  event_groups: choices(
    Object.keys(eventGroups),
    'Groups of events to deliver; stored event_types are those given and those of the groups.',
  ),
  created: shownTime(),
  modified: shownTime(),
  hook_type: shown('string', { type: 'string' }, constant(JSON.stringify(type))),
});

/** Values of a body as columns. Groups stand for their types, together with the types of the same body. */
function columnsOf(values: Values<Fields>): Record<string, Value> {
  const { event_groups: groups, event_types: types, ...rest } = values as Subscription;
  const wanted = groups ? [...new Set([...typesOfGroups(groups), ...(types ?? [])])].sort() : types;
  return {
    ...storedValues(rest),
    ...(groups && { event_groups: JSON.stringify(groups) }),
    ...(wanted && { event_types: JSON.stringify(wanted) }),
  };
}

function update(request: Request, row: HookRow, columns: Readonly<Record<string, Value>>): void {
  const { db } = request;
  const changes = changesOf(row, columns);
  if (Object.keys(changes).length === 0) return;
  // Switched on again or pointed elsewhere, a hook starts without the failures of its past.
  db.update('hook', row.id, { ...changes, failing_since: null, modified: request.now });
  if (changes.event_types !== undefined) {
    db.run(sql`DELETE FROM hook_event_type WHERE hook_id = ${row.id}`);
    subscribe(db, row.id, changes.event_types as string);
  }
  if (changes.is_active === 0) cancelDeliveries(request, sql`id = ${row.id}`, 'The hook was disabled.');
}

function subscribe(db: Database, hook: number, types: string): void {
  db.run(sql`INSERT INTO hook_event_type (type, hook_id) SELECT value, ${hook} FROM json_each(${types})`);
}
