/** The program creates new databases from a copy that the build embeds, not by running the migrations. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { createServer } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emptyDatabase } from '../../../src/kernel/db/migrate.ts';

const databases = suite('new databases');

/** The schema and rows that the migrations create, and the result of SQLite's integrity check. */
function contentsOf(bytes: Buffer): Record<string, unknown> {
  const db = new SQLite(bytes);
  const all = (query: string): unknown[] => db.prepare(query).raw().all();
  try {
    db.exec(`INSERT INTO event_words (event_words) VALUES ('integrity-check')`);
    return {
      schema: all('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name'),
      migrations: all('SELECT * FROM migration ORDER BY number'),
      deployment: all('SELECT id, epoch, fenced FROM deployment'),
      index: all('SELECT k, v FROM event_words_config ORDER BY k'),
      version: db.pragma('user_version', { simple: true }),
      owner: db.pragma('application_id', { simple: true }),
      problems: all('PRAGMA integrity_check'),
    };
  } finally {
    db.close();
  }
}

/** The result of the migrations: the tests have no embedded database. */
const expected = contentsOf(emptyDatabase());

databases('the migrations insert rows, so that the comparison below is not empty', () => {
  const { deployment, index, problems } = expected;
  assert.equal(
    { deployment, index, problems },
    {
      deployment: [[1, 1, null]],
      index: [
        ['automerge', 0],
        ['version', 4],
      ],
      problems: [['ok']],
    },
  );
});

databases('a database in memory equals the result of the migrations, with small pages', async () => {
  const server = await createServer({ ephemeral: true, port: 0, log_level: 'silent' });
  const bytes = server.app.db.serialize();
  await server.close();
  assert.equal(contentsOf(bytes), expected);
  assert.is(bytes.readUInt16BE(16), 1024);
});

databases(
  'a database in a new folder equals the result of the migrations, with pages of the default size',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tenantry-'));
    try {
      const server = await createServer({ data: folder, port: 0, log_level: 'silent' });
      await server.close();
      const bytes = readFileSync(join(folder, 'tenantry.db'));
      // SQLite cannot open a byte array as a database with a write-ahead log.
      bytes.fill(1, 18, 20);
      assert.equal(contentsOf(bytes), expected);
      assert.is(bytes.readUInt16BE(16), 4096);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

databases.run();
