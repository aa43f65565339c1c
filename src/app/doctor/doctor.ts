import { storedTrail } from '../../activity/audit/stored-trail.ts';
import { verifyTrail } from '../../activity/audit/verify.ts';
import { damagedEvents, emptyContexts } from '../../activity/events/damaged.ts';
import { removeFromAll } from '../../activity/events/record.ts';
import { createMissing, type Drift, findDrift, findMissing, repairDrift } from '../../activity/quotas/recount.ts';
import { findResourceDrift } from '../../cloud/resources/recount.ts';
import type { App } from '../../kernel/app.ts';
import { withoutControls } from '../../kernel/control-characters.ts';
import { schemaProblems } from '../../kernel/db/own-schema.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { sqliteAddon } from '../../kernel/native/native.ts';
import { errorOf } from '../../kernel/present.ts';
import { findUndecryptable } from '../data/encryption.ts';
import { metadataProblems } from './external.ts';

/** The result of an examination. */
interface Diagnosis {
  /** One line each. */
  readonly problems: readonly string[];
  /** Whether nothing is left to repair. */
  readonly isHealthy: boolean;
}

const maxLines = 20;

/**
 * Checks the database file, its schema and references, orphaned quotas and alerts, event contexts, quota usages, SAML metadata,
 * encrypted values and the audit trail. `repair` removes orphaned rows, empties unreadable contexts (then only staff can see the
 * event), creates missing quotas and recounts usages. It only reports dangling references, unreadable metadata, values that the
 * keys cannot decrypt, and a modified audit trail. It changes nothing in a damaged file or a foreign schema.
 */
export function examine(app: App, repair: boolean): Diagnosis {
  const damage = damageOf(app);
  try {
    return examineRows(app, repair, damage);
  } catch (error) {
    // Damaged pages can make rows unreadable.
    if (damage.length === 0) throw error;
    const abort = `database: cannot check the rest: ${errorOf(error).message}`;
    return { problems: [...damage, abort], isHealthy: false };
  }
}

/**
 * Returns the damage to the file, one line each, without SQLite's `***` headings. If the check itself fails, returns the damage
 * found before, and the error.
 */
function damageOf({ db }: App): string[] {
  const lines: string[] = [];
  try {
    for (const row of db.each<string>(raw('PRAGMA integrity_check(20)'))) lines.push(...row.split('\n'));
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
  const orphans = findOrphans(app);
  const missing = findMissing(app);
  const unreadable = damagedEvents(db);
  const drifts = findDrifts(app);
  const failedMetadata = metadataProblems(db);
  const { finding } = verifyTrail(storedTrail(db, app.auditHeads.folder));
  const unopenable = findUndecryptable(db, app.secrets, maxLines);
  // A repair writes rows, which would fire foreign triggers.
  const isRepaired = repair && damage.length === 0 && foreign.length === 0;
  if (isRepaired) {
    db.write(() => {
      for (const { id, table } of orphans) db.run(sql`DELETE FROM ${raw(table)} WHERE id = ${id}`);
      if (unreadable.length > 0) emptyContexts(db, unreadable);
      for (const { at, id } of unreadable) removeFromAll(db, at, id);
      createMissing(app, missing);
      // Count again to include the created quotas.
      repairDrift(app, findDrifts(app));
    });
    db.store();
  }
  const outcome = isRepaired ? ', repaired' : '';
  const problems = [
    ...damage,
    ...shorten(foreign.map((line) => `schema: ${withoutControls(line)}`)),
    ...shorten(
      dangling.map(
        ({ parent, rowid, table }) =>
          `database: ${rowid === null ? 'a row' : `row ${rowid}`} of ${table} refers to a missing ${parent}`,
      ),
    ),
    ...shorten(
      orphans.map(
        ({ kind, name, scope, table }) => `${table} ${name} of ${kind} ${scope}, which does not exist${outcome}`,
      ),
    ),
    ...shorten(unreadable.map(({ uuid }) => `event ${uuid}: its context cannot be read${outcome}`)),
    ...shorten(missing.map(({ id, name, scope }) => `quota ${name} of ${scope} ${id} is missing${outcome}`)),
    ...drifts.map(
      ({ counted, quota }) =>
        `quota ${quota.name} of ${quota.scope_kind} ${quota.scope_id}: usage ${quota.usage}, counted ${counted}${outcome}`,
    ),
    ...shorten(unopenable),
    ...(finding === undefined ? [] : [`audit trail: ${finding}`]),
    ...failedMetadata,
  ];
  return {
    problems,
    isHealthy:
      problems.length === 0 ||
      (isRepaired && dangling.length + failedMetadata.length + unopenable.length === 0 && finding === undefined),
  };
}

/** Finds all quotas whose stored usage differs from the count. */
const findDrifts = (app: App): Drift[] => [...findDrift(app), ...findResourceDrift(app)];

/** A quota or alert of an object that does not exist. */
interface Orphan {
  readonly table: 'quota' | 'alert';
  readonly id: number;
  /** Name of the quota, type of the alert. */
  readonly name: string;
  readonly kind: string;
  readonly scope: number;
}

/** Finds quotas and alerts without an object. They refer to objects by kind and id, which no foreign key can enforce. */
function findOrphans({ db, scopes }: App): Orphan[] {
  const of = (table: 'quota' | 'alert', name: Sql): Orphan[] =>
    scopes.entries.flatMap(([kind, scope]) =>
      db.all<Orphan>(sql`SELECT ${table} AS "table", id, ${name} AS name, ${kind} AS kind, scope_id AS scope FROM ${raw(table)}
        WHERE scope_kind = ${kind} AND scope_id NOT IN (SELECT id FROM ${raw(scope.table)}) ORDER BY id`),
    );
  return [...of('quota', raw('name')), ...of('alert', raw('alert_type'))];
}

const shorten = (lines: readonly string[]): string[] =>
  lines.length <= maxLines
    ? [...lines]
    : [...lines.slice(0, maxLines), `and ${lines.length - maxLines} more like this`];
