/** The embedded sample data equals the result of its history, at any time. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, providerTypes, type Server, type ServerOptions, settableClock } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encryptedColumns } from '../../../src/app/data/encryption.ts';
import { examine } from '../../../src/app/doctor/doctor.ts';
import { raw, sql } from '../../../src/kernel/db/sql.ts';
import type { Json } from '../../support/fixture.ts';

const snapshots = suite('sample data from the snapshot');

/** A setting that the history might depend on, so that the history runs; the compared responses do not show it. */
const byHistory = { product_name: 'Another' };

const open = (now: string, more: ServerOptions = {}): Promise<Server> =>
  createServer({ ephemeral: true, port: 0, log_level: 'silent', seed: 'demo', clock: settableClock(now), ...more });

/** All responses to staff: all pages of all collections, and the statistics. */
async function everything(server: Server): Promise<Record<string, Json>> {
  const admin = server.as('admin');
  const read = async (path: string): Promise<Json[]> => {
    const items: Json[] = [];
    for (let next: string | undefined = path; next !== undefined; ) {
      const response = await admin(next);
      assert.is(response.status, 200, next);
      const body = await response.json();
      items.push(...(Array.isArray(body) ? body : [body]));
      next = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    }
    return items;
  };
  const collections: Record<string, string> = await (await admin('/api/')).json();
  const contents: Record<string, Json> = {};
  for (const [name, url] of Object.entries(collections)) {
    const path = new URL(url).pathname;
    if (name === 'sessions' || path.startsWith('/api/stats/')) continue;
    contents[name] = await read(`${path}?page_size=300`);
  }
  for (const query of ['creation-time/?type=project', 'quota/?aggregate=customer', 'quota/timeline/?interval=month'])
    contents[query] = await read(`/api/stats/${query}`);
  return comparable(server, contents);
}

/** The same with the links of one server, and with each uuid replaced by its position in the text. */
function comparable({ url }: Server, contents: Record<string, Json>): Record<string, Json> {
  const numbers = new Map<string, number>();
  const text = JSON.stringify(contents)
    .replaceAll(url, '')
    .replace(/\b[0-9a-f]{32}\b/g, (uuid) => {
      if (!numbers.has(uuid)) numbers.set(uuid, numbers.size);
      return `uuid ${numbers.get(uuid)}`;
    });
  return JSON.parse(text);
}

function assertSame(matches: Record<string, Json>, expected: Record<string, Json>): void {
  assert.equal(Object.keys(matches), Object.keys(expected));
  for (const [name, items] of Object.entries(expected)) assert.equal(matches[name], items, name);
}

/** Tables without sample data, and the full-text index. */
const otherTables = /^(audit_|deployment$|event_words|migration$)/;
/** SQL conditions of the rows in other tables that every deployment creates. */
const otherRows: Readonly<Record<string, string>> = { user: 'id = 1', token: 'user_id = 1' };
const uuidPattern = /\b([0-9a-f]{12})([0-9a-f]{20})\b/g;

/**
 * All stored rows of the sample data. Random values count by their length: secrets, hashes, and the last digits of uuids, which
 * are numbered. Whether the history draws a random value more or less can depend on the time of day.
 */
function rowsOf({ app: { db } }: Server): Record<string, Json[]> {
  const isSecret = (table: string, column: string): boolean =>
    column === 'password_hash' || encryptedColumns.some((each) => each.table === table && each.column === column);
  const numbers = new Map<string, number>();
  const comparableValue = (table: string, column: string, value: unknown): Json => {
    if (value instanceof Uint8Array || (isSecret(table, column) && typeof value === 'string')) return value.length;
    if (typeof value !== 'string') return value;
    return value.replace(uuidPattern, (uuid, time, digits) => {
      if (!numbers.has(digits)) numbers.set(digits, numbers.size);
      return uuid[12] === '7' ? `${time} ${numbers.get(digits)}` : `uuid ${numbers.get(digits)}`;
    });
  };
  const tables = db
    .values<string>(sql`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
    .filter((name) => !otherTables.test(name));
  return Object.fromEntries(
    tables.map((table) => {
      const rows = db.all(raw(`SELECT * FROM "${table}" WHERE NOT (${otherRows[table] ?? 'FALSE'})`));
      return [
        table,
        rows.map((row) =>
          Object.entries(row).map(([column, value]) => [column, comparableValue(table, column, value)]),
        ),
      ];
    }),
  );
}

// From 2004-11 and 2039-09, the time of a uuid has another leading digit.
for (const now of ['2005-10-01T06:00:00.001Z', new Date().toISOString(), '2040-05-31T22:30:00Z'])
  snapshots(`stores the rows of the history at ${now} in a sound database`, async () => {
    const stored = await open(now);
    const rows = rowsOf(stored);
    assert.is(stored.app.db.pragma('integrity_check'), 'ok');
    assert.equal(stored.app.db.all(raw('PRAGMA foreign_key_check')), []);
    await stored.close();
    const lived = await open(now, byHistory);
    const expected = rowsOf(lived);
    await lived.close();
    assert.ok(Object.values(expected).flat().length > 20_000);
    assert.equal(Object.keys(rows), Object.keys(expected));
    for (const [table, each] of Object.entries(expected)) {
      assert.is(rows[table]?.length, each.length, table);
      for (const [n, row] of each.entries()) assert.equal(rows[table]?.[n], row, table);
    }
  });

for (const now of ['2020-02-29T23:59:59.123Z', new Date().toISOString(), '2031-01-01T00:00:00Z'])
  snapshots(`equals the result of the history at ${now}, and continues alike`, async () => {
    // Synchronise once in between, and never by the timer during the reads.
    const often = { settings_sync_interval: '3d' };
    const servers = [await open(now, often), await open(now, { ...often, ...byHistory })] as const;
    const [stored, lived] = servers;
    assertSame(await everything(stored), await everything(lived));
    const examined = servers.map(({ app }) => examine(app, false));
    assert.equal(examined, [
      { problems: [], isHealthy: true },
      { problems: [], isHealthy: true },
    ]);
    for (const server of servers) {
      const admin = server.as('admin');
      const [droplet] = await (await admin('/api/digitalocean-droplets/?state=OK&runtime_state=online')).json();
      assert.is((await admin(`${droplet.url}stop/`, { method: 'POST' })).status, 202);
      await server.advance('4d');
      assert.is((await (await admin(droplet.url)).json()).runtime_state, 'offline');
    }
    assertSame(await everything(stored), await everything(lived));
    const events = (await stored.events()).map(({ event_type: type }) => type);
    for (const type of ['resource_creation_succeeded', 'resource_stop_succeeded', 'role_revoked'])
      assert.ok(events.includes(type), type);
    await Promise.all(servers.map((server) => server.close()));
  });

/** The source of the sample data, from the log. */
async function sourceOf(options: ServerOptions): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-source-'));
  const log_file = join(folder, 'log');
  try {
    const server = await open('2020-01-01T00:00:00Z', { log_file, log_level: 'debug', ...options });
    await server.close();
    return /"source":"(\w+)"/.exec(readFileSync(log_file, 'utf8'))?.[1];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

snapshots('is used unless a setting that the history depends on is set, then the history runs', async () => {
  assert.is(await sourceOf({}), 'snapshot');
  assert.is(await sourceOf({ settings_sync_interval: '1h', hooks_allowed_networks: '10.0.0.0/8' }), 'snapshot');
  assert.is(await sourceOf({ base_url: 'https://api.example.com' }), 'history');
  assert.is(await sourceOf({ providers: [...providerTypes] }), 'history');
});

snapshots('leaves no temporary file, and needs none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-temporary-'));
  const { TMPDIR } = process.env;
  const customersWith = async (temporary: string): Promise<string | null> => {
    process.env.TMPDIR = temporary;
    const server = await open('2020-01-01T00:00:00Z');
    const { headers } = await server.as('admin')('/api/customers/');
    await server.close();
    return headers.get('x-result-count');
  };
  try {
    assert.is(await customersWith(folder), '12');
    assert.equal(readdirSync(folder), []);
    assert.is(await customersWith(join(folder, 'missing')), '12');
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    rmSync(folder, { recursive: true });
  }
});

snapshots('lets users log in with the password and finds words of its events', async () => {
  const server = await open('2026-06-01T12:00:00Z');
  const login = await fetch(`${server.url}/api-auth/password/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username: 'ayse.yilmaz', password: 'demo-world-1' }),
  });
  assert.is(login.status, 200);
  const matches = await (await server.as('admin')('/api/events/?search=renamed+Backup+vault')).json();
  assert.ok(Array.isArray(matches));
  const named = await (await server.as('admin')('/api/events/?search=Backup+vault')).json();
  assert.ok(named.length > 0);
  await server.reset();
  assert.is((await server.as('ayse.yilmaz')('/api/users/?current')).status, 200);
  await server.close();
});

snapshots.run();
