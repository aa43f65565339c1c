import { failedSources } from '../../accounts/session/saml/identity-providers.ts';
import { damagedEvents, emptyContexts } from '../../activity/events/damaged.ts';
import { removeFromAll } from '../../activity/events/subjects.ts';
import { createMissing, type Drift, findDrift, findMissing, repairDrift } from '../../activity/quotas/recount.ts';
import { findResourceDrift } from '../../cloud/resources/recount.ts';
import type { App } from '../../kernel/app.ts';
import { withoutControls } from '../../kernel/control-characters.ts';
import { schemaProblems } from '../../kernel/db/own-schema.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { sqliteAddon } from '../../kernel/native/native.ts';
import { errorOf } from '../../kernel/present.ts';
import { findUndecryptable } from '../data/encryption.ts';

/** What an examination found. */
interface Diagnosis {
  /** One line each; empty when all is well. */
  readonly problems: readonly string[];
  /** Whether nothing is left to repair. */
  readonly isHealthy: boolean;
}

const mostLines = 20;

/**
 * Examines the database file, its schema, its references, quotas and alerts of objects that are gone, the contexts of events, and the
 * counted quotas. With `repair` removes what is left of lost objects, empties contexts that cannot be read, which staff alone
 * sees then, creates missing quotas and sets drifted ones right; a damaged file, a foreign schema and
 * dangling references are only reported, as is metadata of identity providers that could not be read and what the encryption
 * keys do not open; a database with a damaged file or a foreign schema is not changed.
 */
export function examine(app: App, repair: boolean): Diagnosis {
  const damage = damageOf(app);
  try {
    return examineRows(app, repair, damage);
  } catch (error) {
    // What stands on a damaged page may not even be read.
    if (damage.length === 0) throw error;
    const rest = `database: nothing more can be examined: ${errorOf(error).message}`;
    return { problems: [...damage, rest], isHealthy: false };
  }
}

/**
 * What is wrong with the file, a line each; of a tree SQLite tells in a line of its own where it stands. Where the check itself
 * cannot go on, what it found before is told.
 */
function damageOf({ db }: App): string[] {
  const lines: string[] = [];
  try {
    for (const told of db.each<string>(raw('PRAGMA integrity_check(20)'))) lines.push(...told.split('\n'));
  } catch (error) {
    lines.push(errorOf(error).message);
  }
  return lines
    .filter((line) => line !== 'ok' && !line.startsWith('***'))
    .map((line) => `database: ${withoutControls(line)}`);
}

function examineRows(app: App, repair: boolean, damage: readonly string[]): Diagnosis {
  const { db } = app;
  const foreign = schemaProblems(db, sqliteAddon());
  const dangling = db.all<{ table: string; rowid: number | null; parent: string }>(raw('PRAGMA foreign_key_check'));
  const leftovers = findLeftovers(app);
  const missing = findMissing(app);
  const unreadable = damagedEvents(db);
  const drifts = drift(app);
  const unread = failedSources(db);
  const sealed = findUndecryptable(db, app.secrets, mostLines);
  // What is repaired is written, and a foreign trigger would act on that.
  const isRepaired = repair && damage.length === 0 && foreign.length === 0;
  if (isRepaired) {
    db.write(() => {
      for (const { id, table } of leftovers) db.run(sql`DELETE FROM ${raw(table)} WHERE id = ${id}`);
      if (unreadable.length > 0) emptyContexts(db, unreadable);
      for (const { at, id } of unreadable) removeFromAll(db, at, id);
      createMissing(app, missing);
      // Counted again: a quota that was missing has not been counted yet.
      repairDrift(app, drift(app));
    });
    db.store();
  }
  const mended = isRepaired ? ', repaired' : '';
  const problems = [
    ...damage,
    ...shortened(foreign.map((line) => `schema: ${withoutControls(line)}`)),
    ...shortened(
      dangling.map(
        ({ parent, rowid, table }) =>
          `database: ${rowid === null ? 'a row' : `row ${rowid}`} of ${table} refers to a missing ${parent}`,
      ),
    ),
    ...shortened(
      leftovers.map(
        ({ kind, name, scope, table }) => `${table} ${name} of ${kind} ${scope}, which does not exist${mended}`,
      ),
    ),
    ...shortened(unreadable.map(({ uuid }) => `event ${uuid}: its context cannot be read${mended}`)),
    ...shortened(missing.map(({ id, name, scope }) => `quota ${name} of ${scope} ${id} is missing${mended}`)),
    ...drifts.map(
      ({ counted, quota }) =>
        `quota ${quota.name} of ${quota.scope_kind} ${quota.scope_id}: usage ${quota.usage}, counted ${counted}${mended}`,
    ),
    ...shortened(sealed),
    ...unread.map(({ error, name }) => `metadata of identity providers ${name} could not be read: ${error}`),
  ];
  return {
    problems,
    isHealthy: problems.length === 0 || (isRepaired && dangling.length + unread.length + sealed.length === 0),
  };
}

/** Every quota whose usage has drifted. */
const drift = (app: App): Drift[] => [...findDrift(app), ...findResourceDrift(app)];

/** A quota or alert of an object that does not exist. */
interface Leftover {
  readonly table: 'quota' | 'alert';
  readonly id: number;
  /** Of a quota its name, of an alert its type. */
  readonly name: string;
  readonly kind: string;
  readonly scope: number;
}

/** They are bound to their objects by kind and id, so that no reference of the database guards them. */
function findLeftovers({ db, scopes }: App): Leftover[] {
  const of = (table: 'quota' | 'alert', name: Sql): Leftover[] =>
    scopes.entries.flatMap(([kind, scope]) =>
      db.all<Leftover>(sql`SELECT ${table} AS "table", id, ${name} AS name, ${kind} AS kind, scope_id AS scope FROM ${raw(table)}
        WHERE scope_kind = ${kind} AND scope_id NOT IN (SELECT id FROM ${raw(scope.table)}) ORDER BY id`),
    );
  return [...of('quota', raw('name')), ...of('alert', raw('alert_type'))];
}

const shortened = (lines: readonly string[]): string[] =>
  lines.length <= mostLines
    ? [...lines]
    : [...lines.slice(0, mostLines), `and ${lines.length - mostLines} more like this`];
