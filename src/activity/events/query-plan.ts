import type { Database } from '../../kernel/db/database.ts';
import { all, among, join, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import type { Page } from '../../kernel/http/page.ts';
import type { SubjectKind } from './subjects.ts';

/*
 * How the log is read. What a request asks for is a list of criteria, each a condition on `event e`. Those that an index
 * serves offer a way as well: the rows of the index that lead to their events. The criterion that leaves the fewest events
 * leads, and the others are conditions on what it finds; without any way the whole log is walked by time.
 * See src/decisions/event-query-plans.md.
 */

/** An index that leads to events. */
interface IndexScan {
  /** What is read, with its alias. */
  readonly table: Sql;
  /** The index to be used where time matters; SQLite might prefer one for a condition, and sort. */
  readonly index?: string;
  /** Columns of the event's time and id. */
  readonly at: string;
  readonly id: string;
  /** The entries of the index. */
  readonly where: Sql;
  /** The same entries in parts, where each part is in order of time and id. */
  readonly parts?: readonly Sql[];
  /** Condition on the entries whose events another way of the same criterion leads to, too. */
  readonly except?: Sql;
}

export interface Predicate {
  readonly condition: Sql;
  /** Whether a statement prepares the condition once, at a cost; many parts of a statement would do so many times. */
  readonly isPrepared?: true;
  /** Together these lead to every event of the criterion, to each once. */
  readonly ways?: readonly IndexScan[];
}

/** What of the log is asked for. */
export interface Selection {
  readonly ways: readonly IndexScan[];
  /** What the ways leave to be checked on `event e`. */
  readonly conditions: readonly Sql[];
  /** Everything to be checked when the whole log is walked. */
  readonly whole: readonly Sql[];
  /** Whether the conditions may stand in many parts of a statement. */
  readonly isDivisible: boolean;
  /** Times in microseconds: from the first on, before the second. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

type Range = Pick<Selection, 'from' | 'to'>;

const events = raw('event e');
const log: IndexScan = {
  table: events,
  index: 'event_at',
  at: 'e.at',
  id: 'e.id',
  where: raw('TRUE'),
  parts: [raw('TRUE')],
};

/** The events about any of these subjects. */
export const aboutSubjects = (ids: readonly number[], except?: Sql): IndexScan => ({
  ...about(among('a.subject_id', ids)),
  parts: ids.map((id) => sql`a.subject_id = ${id}`),
  ...(except && { except }),
});

/** The events about one object. */
export function aboutObject(kind: SubjectKind, uuid: string): IndexScan {
  const where = sql`a.subject_id = (SELECT id FROM event_subject WHERE kind = ${kind} AND uuid = ${uuid})`;
  return { ...about(where), parts: [where] };
}

/** The events about any object of a kind of which an event names at most one. */
export const aboutKind = (kind: Exclude<SubjectKind, 'user'>): IndexScan =>
  about(sql`a.subject_id IN (SELECT id FROM event_subject WHERE kind = ${kind})`);

const about = (where: Sql): IndexScan => ({ table: raw('event_about a'), at: 'a.at', id: 'a.event_id', where });

/** The events with one of some values in the column that an index of the log starts with. */
export function byColumn(index: string, column: string, values: readonly string[]): IndexScan {
  const parts = values.map((value) => sql`${raw(column)} = ${value}`);
  const [only, ...others] = parts;
  const where = only && others.length === 0 ? only : among(column, values);
  return { table: events, index, at: 'e.at', id: 'e.id', where, parts };
}

/** The events whose words hold one of these phrases, as FTS5 writes them; none holds two. */
export const byWords = (phrases: readonly string[]): IndexScan => ({
  table: sql`json_each(${JSON.stringify(phrases)}) phrase CROSS JOIN event_words`,
  at: 'e.at',
  id: 'event_words.rowid',
  where: raw('event_words MATCH phrase.value'),
});

/** Chooses what leads. */
export function select(db: Database, criteria: readonly Predicate[], { from, to }: Range): Selection {
  const leads = criteria.filter((criterion) => criterion.ways);
  const lead = leads.length > 1 ? smallest(db, leads) : leads[0];
  const whole = criteria.map(({ condition }) => condition);
  const others = criteria.filter((criterion) => criterion !== lead);
  const conditions = others.map(({ condition }) => condition);
  return {
    ways: lead?.ways ?? [log],
    conditions,
    whole,
    isDivisible: !others.some(({ isPrepared }) => isPrepared),
    from,
    to,
  };
}

function smallest(db: Database, leads: readonly Predicate[]): Predicate | undefined {
  const sized = leads.map((criterion) => ({ criterion, size: size(db, criterion.ways ?? []) }));
  return sized.sort((a, b) => a.size - b.size)[0]?.criterion;
}

/** How many entries ways have. */
const size = (db: Database, ways: readonly IndexScan[]): number =>
  ways.reduce((sum, { except: _, ...way }) => sum + db.count(sql`SELECT ${counted(way, [], {})}`), 0);

/** The number of events of a selection. */
export function count(db: Database, selection: Selection): number {
  const { conditions, from, to, ways } = selection;
  if (ways.length === 0) return 0;
  const isAll = ways[0] === log && conditions.length === 0 && from === undefined && to === undefined;
  return isAll ? db.rowsIn('event') : db.count(countOf(selection));
}

/** The numbers of events of some selections that lead by the same ways. */
export function counts(db: Database, selections: readonly Selection[]): number[] {
  db.deferTogether(selections.filter(({ ways }) => ways.length > 0).map(countOf));
  return selections.map((selection) => count(db, selection));
}

const countOf = ({ conditions, ways, ...range }: Selection): Sql =>
  sql`SELECT ${join(
    ways.map((way) => counted(way, conditions, range)),
    ' + ',
  )}`;

/** How many events of a selection there were before each of some ascending times, in microseconds; everything is looked at once. */
export function countsBefore(
  db: Database,
  { conditions, ways, ...range }: Selection,
  ascending: readonly number[],
): number[] {
  const between = ascending.map(() => 0);
  for (const way of ways) {
    const place = placeAmong(raw(way.at), ascending, 0, ascending.length);
    const found = sql`SELECT ${place} AS place, count(*) AS count ${entries(way, conditions, range, true)} GROUP BY 1`;
    for (const { place, count } of db.deferrableAll<{ place: number; count: number }>(found))
      if (place < between.length) between[place] = (between[place] ?? 0) + count;
  }
  for (const i of between.keys()) between[i] = (between[i] ?? 0) + (between[i - 1] ?? 0);
  return between;
}

/** How many of the ascending values from one place to another a column is not below, as an expression that halves them. */
function placeAmong(column: Sql, ascending: readonly number[], from: number, to: number): Sql {
  if (from === to) return raw(String(from));
  const middle = (from + to) >> 1;
  const [below, above] = [placeAmong(column, ascending, from, middle), placeAmong(column, ascending, middle + 1, to)];
  return sql`iif(${column} < ${ascending[middle] ?? 0}, ${below}, ${above})`;
}

/** Whether ranges of time are found, one by one, without looking at what is outside of them. */
export const isByTime = ({ isDivisible, ways }: Selection): boolean => isDivisible && ways.every((way) => way.parts);

/** The ids of a page of a selection that has `total` events; `direction` is that of time and id. */
export function pageIds(
  db: Database,
  selection: Selection,
  page: Page,
  total: number,
  direction: 'ASC' | 'DESC',
): number[] {
  if (total === 0) return [];
  const depth = page.offset + page.size;
  const { conditions, ways, whole } = selection;
  const rows = (way: IndexScan, checked: readonly Sql[]): Sql =>
    sql`SELECT ${raw(way.at)} AS at, ${raw(way.id)} AS id ${entries(way, checked, selection, true)}`;
  const order = (at: string, id: string): Sql => raw(`ORDER BY ${at} ${direction}, ${id} ${direction}`);
  const inOrder = (way: IndexScan, checked: readonly Sql[]): Sql => sql`${rows(way, checked)} ${order(way.at, way.id)}`;
  const cut = (ordered: Sql): number[] =>
    db.deferrableValues<number>(sql`SELECT id FROM (${ordered} LIMIT ${page.size} OFFSET ${page.offset})`);
  switch (cheapest(db, selection, depth, total)) {
    case 'walk':
      return cut(inOrder(log, whole));
    case 'merge': {
      const parts = ways.flatMap(({ except: _, parts = [], ...way }) =>
        parts.map((where) => inOrder({ ...way, where }, conditions)),
      );
      const [only, ...others] = parts;
      if (only && others.length === 0) return cut(only);
      // An event may stand in several parts, hence UNION.
      const union = join(
        parts.map((part) => sql`SELECT * FROM (${part} LIMIT ${depth})`),
        ' UNION ',
      );
      return cut(sql`SELECT at, id FROM (${union}) ${order('at', 'id')}`);
    }
    default: {
      const found = ways.map((way) => rows(way, conditions));
      return cut(sql`SELECT at, id FROM (${join(found, ' UNION ALL ')}) ${order('at', 'id')}`);
    }
  }
}

/** SQLite joins at most 500 selects. */
const mostParts = 400;

/**
 * Which of three forms of a page reads the fewest rows: the log by time until the page is full, every part of the ways by
 * time as deep as the page, or all entries of the ways, sorted.
 */
function cheapest(
  db: Database,
  { conditions, isDivisible, ways, whole }: Selection,
  depth: number,
  total: number,
): 'walk' | 'merge' | 'gather' {
  const [only] = ways;
  if (ways.length === 1 && only?.parts?.length === 1) return 'merge';
  const parts = ways.every((way) => way.parts)
    ? ways.reduce((sum, way) => sum + (way.parts?.length ?? 0), 0)
    : Infinity;
  const found = conditions.length === 0 ? total : size(db, ways);
  // A part is read on until enough of its entries fulfil the conditions.
  const merge = parts > mostParts || !isDivisible ? Infinity : Math.min(parts * depth * (found / total), found * 2);
  // Walking reads whole events, with their context, where the ways read the few numbers of an index.
  const { logged } = db.one<{ logged: number }>(
    sql`SELECT (SELECT max(id) FROM event) - (SELECT min(id) FROM event) + 1 AS logged`,
  );
  const walk = 4 * depth * (logged / total) * Math.max(1, whole.length);
  return merge <= Math.min(walk, found) ? 'merge' : walk < found ? 'walk' : 'gather';
}

/** The number of entries that fulfil the conditions, as an expression. */
const counted = (way: IndexScan, conditions: readonly Sql[], range: Partial<Range>): Sql =>
  sql`(SELECT count(*) ${entries(way, conditions, range, false)})`;

/** FROM and WHERE of a way; the event is joined only where something of it is asked for. */
function entries(way: IndexScan, conditions: readonly Sql[], { from, to }: Partial<Range>, showsTime: boolean): Sql {
  const needsTime = showsTime || from !== undefined || to !== undefined;
  const isJoined = way.table !== events && (conditions.length > 0 || (needsTime && way.at === 'e.at'));
  const where = [
    way.where,
    ...(from === undefined ? [] : [sql`${raw(way.at)} >= ${from}`]),
    ...(to === undefined ? [] : [sql`${raw(way.at)} < ${to}`]),
    ...(way.except ? [sql`(${way.except}) IS NOT TRUE`] : []),
    ...conditions,
  ].filter(({ text }) => text !== 'TRUE');
  const hint = way.index && needsTime ? ` INDEXED BY ${way.index}` : '';
  const join = isJoined ? ` CROSS JOIN event e ON e.id = ${way.id}` : '';
  return sql`FROM ${way.table}${raw(hint + join)}${where.length === 0 ? raw('') : sql` WHERE ${all(where)}`}`;
}
