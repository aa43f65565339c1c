import type { Database } from '../../kernel/db/database.ts';
import { all, among, join, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import type { Page } from '../../kernel/http/query.ts';
import type { SubjectKind } from './record.ts';

/*
 * Plans the reading of the log. A request becomes a list of predicates, each a condition on `event e`. A predicate that an index
 * can serve also has index scans that lead to its events. The predicate with the fewest index entries leads, and the others
 * filter its events. Without an index scan, the whole log is read by time.
 * See src/decisions/query-plans.md.
 */

/** A scan of an index that leads to events. */
interface IndexScan {
  /** The table with its alias. */
  readonly table: Sql;
  /** The index to use where time matters; SQLite might otherwise choose one for a condition, and sort. */
  readonly index?: string;
  /** Columns with the event's time and id. */
  readonly at: string;
  readonly id: string;
  /** Selects the entries of the index. */
  readonly where: Sql;
  /** The same entries in parts, each ordered by time and id. */
  readonly parts?: readonly Sql[];
  /** Matches entries whose events another scan of the same predicate also leads to. */
  readonly except?: Sql;
}

export interface Predicate {
  readonly condition: Sql;
  /** The condition has a setup cost that each part of a statement would repeat. */
  readonly isPrepared?: true;
  /** Together, these lead to every event of the predicate exactly once. */
  readonly scans?: readonly IndexScan[];
}

/** The events that a request selects. */
export interface Selection {
  readonly scans: readonly IndexScan[];
  /** Remaining conditions on `event e`. */
  readonly conditions: readonly Sql[];
  /** All conditions, for reading the whole log. */
  readonly allConditions: readonly Sql[];
  /** Whether many parts of a statement can repeat the conditions. */
  readonly isDivisible: boolean;
  /** Microseconds; `from` is inclusive, `to` exclusive. */
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

/** Events about any of these subjects. */
export const aboutSubjects = (ids: readonly number[], except?: Sql): IndexScan => ({
  ...about(among('a.subject_id', ids)),
  parts: ids.map((id) => sql`a.subject_id = ${id}`),
  ...(except && { except }),
});

/** Events about one object. */
export function aboutObject(kind: SubjectKind, uuid: string): IndexScan {
  const where = sql`a.subject_id = (SELECT id FROM event_subject WHERE kind = ${kind} AND uuid = ${uuid})`;
  return { ...about(where), parts: [where] };
}

/** Events about any object of a kind. An event must name at most one of the kind. */
export const aboutKind = (kind: Exclude<SubjectKind, 'user'>): IndexScan =>
  about(sql`a.subject_id IN (SELECT id FROM event_subject WHERE kind = ${kind})`);

const about = (where: Sql): IndexScan => ({ table: raw('event_about a'), at: 'a.at', id: 'a.event_id', where });

/** Events with one of these values in the first column of a log index. */
export function byColumn(index: string, column: string, values: readonly string[]): IndexScan {
  const parts = values.map((value) => sql`${raw(column)} = ${value}`);
  const [only, ...others] = parts;
  const where = only && others.length === 0 ? only : among(column, values);
  return { table: events, index, at: 'e.at', id: 'e.id', where, parts };
}

/** Events that match one of these FTS5 phrases. No event may match two. */
export const matchingPhrases = (phrases: readonly string[]): IndexScan => ({
  table: sql`json_each(${JSON.stringify(phrases)}) phrase CROSS JOIN event_words`,
  at: 'e.at',
  id: 'event_words.rowid',
  where: raw('event_words MATCH phrase.value'),
});

/** Chooses the leading predicate and builds the selection. */
export function select(db: Database, criteria: readonly Predicate[], { from, to }: Range): Selection {
  const leads = criteria.filter((criterion) => criterion.scans);
  const lead = leads.length > 1 ? smallest(db, leads) : leads[0];
  const allConditions = criteria.map(({ condition }) => condition);
  const others = criteria.filter((criterion) => criterion !== lead);
  const conditions = others.map(({ condition }) => condition);
  return {
    scans: lead?.scans ?? [log],
    conditions,
    allConditions,
    isDivisible: !others.some(({ isPrepared }) => isPrepared),
    from,
    to,
  };
}

function smallest(db: Database, leads: readonly Predicate[]): Predicate | undefined {
  const sized = leads.map((criterion) => ({ criterion, size: size(db, criterion.scans ?? []) }));
  return sized.sort((a, b) => a.size - b.size)[0]?.criterion;
}

/** Counts the index entries of scans. */
const size = (db: Database, scans: readonly IndexScan[]): number =>
  scans.reduce((sum, { except: _, ...scan }) => sum + db.count(sql`SELECT ${entryCountOf(scan, [], {})}`), 0);

/** Counts the events of a selection. */
export function count(db: Database, selection: Selection): number {
  const { conditions, from, to, scans } = selection;
  if (scans.length === 0) return 0;
  const isAll = scans[0] === log && conditions.length === 0 && from === undefined && to === undefined;
  return isAll ? db.rowsIn('event') : db.count(countOf(selection));
}

/** Counts the events of selections that have the same scans. */
export function counts(db: Database, selections: readonly Selection[]): number[] {
  db.deferTogether(selections.filter(({ scans }) => scans.length > 0).map(countOf));
  return selections.map((selection) => count(db, selection));
}

const countOf = ({ conditions, scans, ...range }: Selection): Sql =>
  sql`SELECT ${join(
    scans.map((scan) => entryCountOf(scan, conditions, range)),
    ' + ',
  )}`;

/** Counts the events of a selection before each of the ascending times, in microseconds, in one pass. */
export function countsBefore(
  db: Database,
  { conditions, scans, ...range }: Selection,
  ascending: readonly number[],
): number[] {
  const between = ascending.map(() => 0);
  for (const scan of scans) {
    const place = placeAmong(raw(scan.at), ascending, 0, ascending.length);
    const countsByPlace = sql`SELECT ${place} AS place, count(*) AS count ${entries(scan, conditions, range, true)} GROUP BY 1`;
    for (const { place, count } of db.deferrableAll<{ place: number; count: number }>(countsByPlace))
      if (place < between.length) between[place] = (between[place] ?? 0) + count;
  }
  for (const i of between.keys()) between[i] = (between[i] ?? 0) + (between[i - 1] ?? 0);
  return between;
}

/** Builds a binary search in SQL: the number of ascending values, between two places, that the column is not below. */
function placeAmong(column: Sql, ascending: readonly number[], from: number, to: number): Sql {
  if (from === to) return raw(String(from));
  const middle = (from + to) >> 1;
  const [below, above] = [placeAmong(column, ascending, from, middle), placeAmong(column, ascending, middle + 1, to)];
  return sql`iif(${column} < ${ascending[middle] ?? 0}, ${below}, ${above})`;
}

/** Whether each time range can be read without reading events outside it. */
export const isByTime = ({ isDivisible, scans }: Selection): boolean =>
  isDivisible && scans.every((scan) => scan.parts);

/** Returns the ids of a page of a selection with `total` events, ordered by time and id in `direction`. */
export function pageIds(
  db: Database,
  selection: Selection,
  page: Page,
  total: number,
  direction: 'ASC' | 'DESC',
): number[] {
  if (total === 0) return [];
  const depth = page.offset + page.size;
  const { conditions, scans, allConditions } = selection;
  const rows = (scan: IndexScan, checked: readonly Sql[]): Sql =>
    sql`SELECT ${raw(scan.at)} AS at, ${raw(scan.id)} AS id ${entries(scan, checked, selection, true)}`;
  const order = (at: string, id: string): Sql => raw(`ORDER BY ${at} ${direction}, ${id} ${direction}`);
  const inOrder = (scan: IndexScan, checked: readonly Sql[]): Sql =>
    sql`${rows(scan, checked)} ${order(scan.at, scan.id)}`;
  const pageOfIds = (ordered: Sql): number[] =>
    db.deferrableValues<number>(sql`SELECT id FROM (${ordered} LIMIT ${page.size} OFFSET ${page.offset})`);
  switch (cheapest(db, selection, depth, total)) {
    case 'walk':
      return pageOfIds(inOrder(log, allConditions));
    case 'merge': {
      const parts = scans.flatMap(({ except: _, parts = [], ...scan }) =>
        parts.map((where) => inOrder({ ...scan, where }, conditions)),
      );
      const [only, ...others] = parts;
      if (only && others.length === 0) return pageOfIds(only);
      // Use UNION, because an event may be in several parts.
      const union = join(
        parts.map((part) => sql`SELECT * FROM (${part} LIMIT ${depth})`),
        ' UNION ',
      );
      return pageOfIds(sql`SELECT at, id FROM (${union}) ${order('at', 'id')}`);
    }
    default: {
      const unordered = scans.map((scan) => rows(scan, conditions));
      return pageOfIds(sql`SELECT at, id FROM (${join(unordered, ' UNION ALL ')}) ${order('at', 'id')}`);
    }
  }
}

/** Below SQLite's limit of 500 terms in a compound SELECT. */
const maxParts = 400;

/**
 * Chooses the plan that reads the fewest rows for a page. `walk` reads the log by time until the page is full. `merge` reads
 * every part of the scans by time, as deep as the page. `gather` reads all entries of the scans and sorts them.
 */
function cheapest(
  db: Database,
  { conditions, isDivisible, scans, allConditions }: Selection,
  depth: number,
  total: number,
): 'walk' | 'merge' | 'gather' {
  const [only] = scans;
  if (scans.length === 1 && only?.parts?.length === 1) return 'merge';
  const parts = scans.every((scan) => scan.parts)
    ? scans.reduce((sum, scan) => sum + (scan.parts?.length ?? 0), 0)
    : Infinity;
  const entryCount = conditions.length === 0 ? total : size(db, scans);
  // Each part is read until enough of its entries meet the conditions.
  const merge =
    parts > maxParts || !isDivisible ? Infinity : Math.min(parts * depth * (entryCount / total), entryCount * 2);
  // Walking reads entire events with their context, scans only small index entries.
  const { logged } = db.one<{ logged: number }>(
    sql`SELECT (SELECT max(id) FROM event) - (SELECT min(id) FROM event) + 1 AS logged`,
  );
  const walk = 4 * depth * (logged / total) * Math.max(1, allConditions.length);
  return merge <= Math.min(walk, entryCount) ? 'merge' : walk < entryCount ? 'walk' : 'gather';
}

/** SQL expression: the number of entries that meet the conditions. */
const entryCountOf = (scan: IndexScan, conditions: readonly Sql[], range: Partial<Range>): Sql =>
  sql`(SELECT count(*) ${entries(scan, conditions, range, false)})`;

/** Builds FROM and WHERE of a scan. Joins the event only if a column of it is needed. */
function entries(scan: IndexScan, conditions: readonly Sql[], { from, to }: Partial<Range>, showsTime: boolean): Sql {
  const needsTime = showsTime || from !== undefined || to !== undefined;
  const isJoined = scan.table !== events && (conditions.length > 0 || (needsTime && scan.at === 'e.at'));
  const where = [
    scan.where,
    ...(from === undefined ? [] : [sql`${raw(scan.at)} >= ${from}`]),
    ...(to === undefined ? [] : [sql`${raw(scan.at)} < ${to}`]),
    ...(scan.except ? [sql`(${scan.except}) IS NOT TRUE`] : []),
    ...conditions,
  ].filter(({ text }) => text !== 'TRUE');
  const hint = scan.index && needsTime ? ` INDEXED BY ${scan.index}` : '';
  const join = isJoined ? ` CROSS JOIN event e ON e.id = ${scan.id}` : '';
  return sql`FROM ${scan.table}${raw(hint + join)}${where.length === 0 ? raw('') : sql` WHERE ${all(where)}`}`;
}
