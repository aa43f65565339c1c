/**
 * Kills a server at random moments during the migration of an old database. Compares the result of the next start, table by
 * table, with that of an undisturbed start.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { applicationId } from '../../src/kernel/durability/handle.ts';
import { embeddedMigrations } from '../../src/kernel/native/embedded.ts';
import { nativeCache, Program } from '../support/program.ts';
import { killAtRandom, requireHealthy } from './observer.ts';
import type { Part } from './part.ts';

export interface MigrationFigures {
  readonly kills: number;
  /** Schema versions of the database after the kills. */
  readonly schemas: string;
  readonly rows: number;
}

/** The schema version of the old database. */
export const oldSchema = 15;
const rows = 3000;
/** Milliseconds after the first write to the WAL within which a start is killed. Covers all migrations. */
const longest = 100;
/** Number of kills before a start may finish. */
const kills = 3;
const serve = ['serve', '--port', '0', '--log-level', 'silent'];

/** Kills this many starts on old databases. */
export async function killMigrations(rounds: number): Promise<MigrationFigures> {
  const root = mkdtempSync(join(tmpdir(), 'tenantry-migration-'));
  const seen = new Set<number>();
  let done = 0;
  try {
    makeOld(join(root, 'old'));
    const undisturbed = new Program(nativeCache);
    copy(root, undisturbed);
    await (await undisturbed.serve()).stop();
    const right = contentOf(undisturbed);
    await undisturbed.end();
    for (let round = 0; round < rounds; round += kills) {
      const program = new Program(nativeCache);
      try {
        copy(root, program);
        for (let i = 0; i < kills; i++) {
          if (await killAtRandom(program, serve, longest, join(program.folder, 'data/tenantry.db-wal'))) done++;
          seen.add(schemaOf(program));
        }
        await (await program.serve()).stop();
        compare(contentOf(program), right);
        await requireHealthy(program);
      } finally {
        await program.end();
      }
    }
    const schemas = [...seen].sort((a, b) => a - b).join(' ');
    return { kills: done, schemas, rows: [...right.values()].reduce((sum, { length }) => sum + length, 0) };
  } finally {
    rmSync(root, { recursive: true });
  }
}

function copy(root: string, program: Program): void {
  cpSync(join(root, 'old'), join(program.folder, 'data'), { recursive: true });
}

/** Creates a database of an earlier version: users, a push hook with a plain token, events without their words. */
export function makeOld(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const db = new SQLite(join(folder, 'tenantry.db'));
  db.pragma('journal_mode = WAL');
  const older = embeddedMigrations().slice(0, oldSchema);
  for (const { sql } of older) db.exec(sql);
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})`;
  db.exec(`
    INSERT INTO user (uuid, username, username_folded, date_joined) ${numbers} SELECT printf('%032x', i), 'user' || i, 'user' || i, i FROM n;
    INSERT INTO event (uuid, at, type, level, message, context)
      ${numbers} SELECT printf('%032x', i), i, 'customer_creation_succeeded', 'info', 'Customer Customer ' || i || ' has been created.',
        json_object('customer_name', 'Customer ' || i) FROM n;
    INSERT INTO hook (uuid, kind, user_id, event_types, event_groups, created, modified, type, device_id, token)
      VALUES (printf('%032x', 7), 'push', 1, '[]', '[]', 1, 1, 'Android', 'device', 'plain token');
    PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${oldSchema}`);
  db.close();
}

function opened<T>(program: Program, use: (db: SQLite.Database) => T): T {
  const db = new SQLite(join(program.folder, 'data/tenantry.db'));
  try {
    return use(db);
  } finally {
    db.close();
  }
}

const schemaOf = (program: Program): number =>
  opened(program, (db) => Number(db.pragma('user_version', { simple: true })));

/** Columns of secrets, random names and current times, which differ between starts. */
const random = ['sealed', 'key_check', 'token', 'token_digest', 'first_at', 'clock_seen'];

/** Returns the rows of every table as texts, except the audit trail, which records the time of each start. */
const contentOf = (program: Program): Map<string, string[]> =>
  opened(program, (db) => {
    const tables = db
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'audit_%' ORDER BY name",
      )
      .pluck()
      .all() as string[];
    return new Map(
      tables.map((table) => {
        const stored = db.prepare(`SELECT * FROM "${table}"`).all() as Record<string, unknown>[];
        return [table, stored.map((row) => describeRow(table, row)).sort()];
      }),
    );
  });

function describeRow(table: string, row: Record<string, unknown>): string {
  const isNew = table === 'quota' && row.scope_kind === 'global';
  const visible = Object.entries(row).filter(([name]) => !random.includes(name) && !(isNew && name === 'uuid'));
  return JSON.stringify(visible);
}

function compare(matches: Map<string, string[]>, right: Map<string, string[]>): void {
  for (const table of new Set([...matches.keys(), ...right.keys()])) {
    const [is, was] = [matches.get(table) ?? [], right.get(table) ?? []];
    const at = was.findIndex((row, i) => row !== is[i]);
    if (at >= 0 || is.length !== was.length)
      throw new Error(`The table ${table} differs from that of an undisturbed start: ${is[at]} for ${was[at]}`);
  }
}

/** The part of `npm run chaos`. */
export const migration: Part = ({ rounds }) => killMigrations(rounds);
