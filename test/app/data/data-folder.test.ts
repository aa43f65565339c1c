/** A data folder after a server failed to start or to save its work: the next server can use it. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { createServer, type Server } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('data folder');
let data: string;

test.before.each(() => {
  data = mkdtempSync(join(tmpdir(), 'tenantry-data-'));
});
test.after.each(() => rmSync(data, { recursive: true }));

const serve = (port = 0): Promise<Server> => createServer({ data, port, log_level: 'silent' });
const files = (): string[] => readdirSync(data).filter((name) => name.startsWith('tenantry.db'));

test('closes the database in all threads when a server cannot listen', async () => {
  const first = await serve();
  // Creates this many events with long words that are not indexed, so that the next start writes enough to wake the thread.
  first.app.db.script(`WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 3000)
    INSERT INTO event (uuid, at, type, level, message, context)
    SELECT printf('%032x', n), n, 'user_creation_succeeded', 'info', hex(randomblob(2000)), '{}' FROM number`);
  await first.close();
  const taken = createHttpServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const threads: Worker[] = [];
  const note = (thread: Worker): void => void threads.push(thread);
  process.on('worker', note);
  const message = await serve(port).then(
    () => '',
    (error: Error) => error.message,
  );
  assert.is(message, `cannot listen on 127.0.0.1 port ${port}: the port is in use`);
  process.off('worker', note);
  assert.equal(
    threads.map((thread) => thread.threadId),
    [-1],
    'a thread has started and ended',
  );
  assert.equal(files(), ['tenantry.db']);
  taken.close();
  await (await serve()).close();
});

for (const table of ['quota', 'hook'])
  test(`releases the folder when a start fails because the table ${table} is missing`, async () => {
    const first = await serve();
    first.app.db.script(`ALTER TABLE ${table} RENAME TO other`);
    await first.close();
    for (let i = 0; i < 2; i++) {
      const message = await serve().then(
        () => '',
        (error: Error) => error.message,
      );
      assert.is(message, `no such table: ${table}`);
      assert.equal(files(), ['tenantry.db']);
    }
  });

test('reports that a closing server cannot save, and releases the folder', async () => {
  const first = await serve();
  const { db, tokenUse } = first.app;
  tokenUse.save = () => {
    throw new Error('disk full');
  };
  assert.is(
    await first.close().then(
      () => '',
      (error: Error) => error.message,
    ),
    'disk full',
  );
  assert.throws(() => db.pragma('user_version'), /not open/);
  await (await serve()).close();
  assert.equal(files(), ['tenantry.db']);
});

test.run();
