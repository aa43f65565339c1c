/** What a response guarantees to a client, and what happens when the disk is full. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Client, Fixture } from '../../support/fixture.ts';
import { OtherWriter } from '../../support/other-process.ts';
import { Wire } from '../../support/wire.ts';

const durability = suite('durability');
let data: string;
const fixture = new Fixture();
/** Another connection, which sees only committed changes. */
let outside: SQLite.Database;

durability.before.each(async () => {
  data = mkdtempSync(join(tmpdir(), 'tenantry-disk-'));
  await fixture.open({ ephemeral: false, data });
  outside = new SQLite(join(data, 'tenantry.db'), { readonly: true });
});
durability.after.each(async () => {
  outside.close();
  await fixture.close();
  rmSync(data, { recursive: true });
});

const committed = () => outside.prepare('SELECT name FROM customer ORDER BY name').pluck().all() as string[];

durability('sends a response after the commit of its change', async () => {
  for (const name of ['a', 'b', 'c']) {
    assert.is((await fixture.staff.post('/api/customers/', { name })).status, 201);
    assert.ok(committed().includes(name));
  }
});

durability('when the commit fails, every request that saw the change gets 500', async () => {
  const { db } = fixture.server.app;
  db.script('CREATE TABLE child (customer INTEGER REFERENCES customer DEFERRABLE INITIALLY DEFERRED) STRICT');
  const { insert } = db;
  db.insert = (table, row) => {
    if (table === 'customer') insert.call(db, 'child', { customer: 999 });
    return insert.call(db, table, row);
  };
  const body = '{"name":"Never","agreement_number":5}';
  const request = [
    'POST /api/customers/ HTTP/1.1',
    'Host: localhost',
    `Authorization: Token ${fixture.staff.token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
  ];
  const wire = (await Wire.to(fixture.url)).bytes(`${request.join('\r\n')}\r\n${body}`.repeat(2));
  assert.equal([(await wire.response()).status, (await wire.response()).status], [500, 500]);
  wire.close();
  db.insert = insert;
  assert.equal([committed(), (await fixture.staff.get('/api/customers/')).body], [[], []]);
  assert.is((await fixture.staff.post('/api/customers/', { name: 'Later', agreement_number: 5 })).status, 201);
});

durability('a failing request rolls back alone among simultaneous ones', async () => {
  const bodies = Array.from({ length: 30 }, (_, i) =>
    i % 3 === 0 ? { name: `wrong ${i}`, agreement_number: 1 } : { name: `right ${i}` },
  );
  await fixture.customer('first', { agreement_number: 1 });
  const responses = await Promise.all(bodies.map((body) => fixture.staff.post('/api/customers/', body)));
  assert.equal(
    responses.map(({ status }) => status),
    bodies.map((_, i) => (i % 3 === 0 ? 400 : 201)),
  );
  assert.equal(committed(), ['first', ...bodies.flatMap(({ name }, i) => (i % 3 === 0 ? [] : [name]))].sort());
});

durability(
  'on a full disk a write is 507, nothing of it remains, reading continues, and writing again when there is room',
  async () => {
    const { db, log } = fixture.server.app;
    const logged: unknown[] = [];
    log.error = (entry: unknown) => logged.push(entry);
    db.pragma(`max_page_count = ${Number(db.pragma('page_count')) + 4}`);
    const acknowledged: string[] = [];
    let rejection: Awaited<ReturnType<Client['post']>> | undefined;
    for (let i = 0; rejection === undefined && i < 200; i++) {
      const reply = await fixture.staff.post('/api/customers/', {
        name: `customer ${i}`,
        contact_details: 'x'.repeat(500),
      });
      if (reply.status === 201) acknowledged.push(reply.body.name);
      else rejection = reply;
    }
    assert.ok(rejection);
    assert.equal([rejection.status, rejection.body], [507, { detail: 'Out of storage.' }]);
    const [reports] = logged as { folder: string; free_bytes: number; needed_bytes: number }[];
    assert.equal([logged.length, reports?.folder, reports?.needed_bytes], [1, data, 100_000_000]);
    assert.equal(committed(), [...acknowledged].sort());
    assert.is((await fixture.staff.get('/api/customers/')).headers.get('x-result-count'), String(acknowledged.length));
    db.pragma('max_page_count = 100000');
    assert.is((await fixture.staff.post('/api/customers/', { name: 'with room' })).status, 201);
    assert.ok(committed().includes('with room'));
  },
);

durability('serves reads while another process writes, and delays a write until it ends', async () => {
  const other = await OtherWriter.begin(join(data, 'tenantry.db'));
  const writing = fixture.staff.post('/api/customers/', { name: 'Patient' });
  // The other process writes until these responses arrive. A server that waited for it would send none.
  for (let i = 0; i < 5; i++) assert.is((await fixture.staff.get(`/api/customers/?name=${i}`)).status, 200);
  assert.equal(committed(), []);
  await other.end('COMMIT');
  assert.is((await writing).status, 201);
  assert.equal(committed(), ['Patient']);
});

durability('a write blocked by another process for ten seconds gets 503, and can be retried', async () => {
  const other = await OtherWriter.begin(join(data, 'tenantry.db'));
  const began = performance.now();
  const reply = await fixture.staff.post('/api/customers/', { name: 'Late' });
  assert.equal(
    [reply.status, reply.body, reply.headers.get('retry-after')],
    [503, { detail: 'The data is being written by another process. Try again.' }, '1'],
  );
  assert.ok(performance.now() - began > 9500);
  await other.end('ROLLBACK');
  assert.is((await fixture.staff.post('/api/customers/', { name: 'Late' })).status, 201);
});

durability('has every acknowledged change after a restart, and the last use of tokens', async () => {
  await fixture.user('alice', { token_lifetime: 100 });
  const alice = fixture.as('alice');
  fixture.clock.advance(50);
  assert.is((await alice.get('/api/')).status, 200);
  await fixture.customer('Kept');
  await fixture.close();
  const again = await Fixture.start({ ephemeral: false, data, clock: fixture.clock });
  fixture.clock.advance(99);
  assert.equal((await new Client(again, alice.token).get('/api/')).status, 200);
  assert.equal((await again.staff.get('/api/customers/?field=name')).body, [{ name: 'Kept' }]);
  await again.close();
});

durability.run();
