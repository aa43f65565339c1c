/** Long reads run in a thread, with the same responses. See src/decisions/reader-thread.md. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { type DeferredRead, DeferredReads } from '../../src/kernel/db/deferred-reads.ts';
import { raw, sql } from '../../src/kernel/db/sql.ts';
import { present } from '../../src/kernel/present.ts';
import type { ReaderThread } from '../../src/kernel/threads/long-reads.ts';
import type { Client, Json } from '../support/fixture.ts';
import { HttpError } from '../support/program-errors.ts';
import { storeSampleData } from '../support/sample-data.ts';
import { suiteWithServer } from '../support/suite.ts';
import { targetsOf } from '../support/targets.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-long-'));
const { test, fixture } = suiteWithServer('long reads', { ephemeral: false, data: folder });

const thread = (): ReaderThread => present(fixture.server.app.readerThread);

test.before(() => {
  largeAbove(1e9);
  storeSampleData(fixture);
});
test.after(() => rmSync(folder, { recursive: true }));

/** From now on, tables with more rows than this count as large, and responses are not cached. */
function largeAbove(rows: number): void {
  const { db } = fixture.server.app;
  Object.assign(db.long, { manyRows: rows });
  db.versions.changedAll();
}

/** Whether a list belongs to one of many similar vendors. */
const isOfVendor = (target: string): boolean =>
  fixture.server.app.catalogue.types.some(({ prefix }) => target.startsWith(`/api/${prefix}-`));

/** Whether the audit trail records a GET and the next GET then shows the record. */
const isRecorded = (target: string): boolean => target.startsWith('/api/audit/export/');

/** Calls `between` once, after the thread's result and before the handler runs again. */
function afterReading(between: () => Promise<unknown>): void {
  const reading = thread();
  const response = reading.result.bind(reading);
  reading.result = async (...requests) => {
    reading.result = response;
    await response(...requests);
    await between();
  };
}

const namesIn = ({ body }: { readonly body: Json }): string[] => body.map(({ name }: { name: string }) => name);

/** Returns the customers whose name contains a text. */
const named = async (client: Client, name: string): Promise<[total: string | null, names: string[]]> => {
  const response = await client.get(`/api/customers/?name=${name}`);
  return [response.headers.get('X-Result-Count'), namesIn(response)];
};

test('returns the same for every list, filter and order with and without the thread', async () => {
  const user = fixture.server.app.db.scalar<string>(
    raw(`SELECT u.username FROM customer_role r JOIN user u ON u.id = r.user_id
      WHERE r.role = 'owner' AND NOT u.is_staff GROUP BY u.id ORDER BY count(*) DESC, u.id LIMIT 1`),
  );
  let requests = 0;
  const reading = thread();
  const response = reading.result.bind(reading);
  reading.result = (...queries) => {
    requests++;
    return response(...queries);
  };
  const people = await Promise.all(
    ['admin', user].map(async (username) => {
      const token = fixture.server.issueToken(username);
      return {
        token,
        targets: (await targetsOf(fixture.url, token)).filter((target) => !isOfVendor(target) && !isRecorded(target)),
      };
    }),
  );
  const all = async (): Promise<string[]> => {
    const responses: string[] = [];
    for (const { targets, token } of people)
      for (const target of targets) {
        const headers = { Authorization: `Token ${token}` };
        const reply = await fetch(fixture.url + target, { headers, redirect: 'manual' });
        const pages = ['X-Result-Count', 'Link'].map((name) => reply.headers.get(name));
        responses.push(`${target} ${reply.status} ${pages.join(' ')} ${await reply.text()}`);
      }
    return responses;
  };
  const plain = await all();
  assert.is(requests, 0);
  largeAbove(0);
  const read = await all();
  reading.result = response;
  assert.equal(
    read.filter((text, i) => text !== plain[i]),
    [],
  );
  assert.ok(plain.length > 500 && requests > 300, `${plain.length} responses, ${requests} reads`);
});

test('serves other requests while the thread reads, and caches no outdated results', async () => {
  largeAbove(0);
  let first: string[] = [];
  afterReading(async () => {
    const created = await fixture.customer('Long and new');
    first = [...first, (await fixture.staff.get(created.url)).body.name];
  });
  // The state at the time of the read.
  assert.equal(await named(fixture.staff, 'Long'), ['0', []]);
  assert.equal(first, ['Long and new']);
  assert.equal(await named(fixture.staff, 'Long'), ['1', ['Long and new']]);
  assert.equal(await named(fixture.staff, 'Long'), ['1', ['Long and new']]);
});

test('returns a write to any caller after it was acknowledged', async () => {
  largeAbove(0);
  const { url } = await fixture.customer('Renamed 0');
  for (let i = 1; i <= 20; i++) {
    await fixture.staff.patch(url, { name: `Renamed ${i}` });
    assert.equal(await named(fixture.staff, 'Renamed'), ['1', [`Renamed ${i}`]]);
  }
});

test('omits objects deleted while the thread reads', async () => {
  const created = [await fixture.customer('Gone 1'), await fixture.customer('Gone 2')];
  largeAbove(0);
  afterReading(() => fixture.staff.delete(created[0].url));
  assert.equal(namesIn(await fixture.staff.get('/api/customers/?name=Gone')), ['Gone 2']);
});

test('shows nothing of a role that ends while the thread reads, or that has just expired', async () => {
  const owner = await fixture.user('long.owner');
  const client = fixture.as('long.owner');
  const [early, late] = [await fixture.customer('Ends 1'), await fixture.customer('Ends 2')];
  const end = new Date(fixture.clock.now() / 1000 + 3_600_000).toISOString();
  await fixture.grant(early, owner, 'owner', end);
  const { url } = await fixture.grant(late, owner, 'owner');
  largeAbove(0);
  assert.equal(await named(client, 'Ends'), ['2', ['Ends 1', 'Ends 2']]);
  fixture.clock.advance(3600);
  assert.equal(await named(client, 'Ends'), ['1', ['Ends 2']]);
  largeAbove(0);
  afterReading(async () => assert.is((await fixture.staff.delete(url)).status, 204));
  assert.equal(namesIn(await client.get('/api/customers/?name=End')), []);
});

test('rejects a token that is revoked while the thread reads', async () => {
  await fixture.user('long.visitor');
  const client = fixture.as('long.visitor');
  largeAbove(0);
  afterReading(async () => {
    fixture.server.app.db.write(() =>
      fixture.server.app.db.run(raw('DELETE FROM token WHERE id = (SELECT max(id) FROM token)')),
    );
    fixture.server.app.db.commit();
    fixture.server.app.db.versions.changedAll();
  });
  assert.is((await client.get('/api/customers/?name=e')).status, 401);
});

/** Returns the queries that the thread receives while `work` runs. */
async function queriesDuring(work: () => Promise<unknown>): Promise<readonly (readonly string[])[]> {
  const requests: string[][] = [];
  const reading = thread();
  const response = reading.result.bind(reading);
  reading.result = (reads, queries, isGone) => {
    requests.push(queries.map(({ text }) => text));
    return response(reads, queries, isGone);
  };
  try {
    await work();
  } finally {
    reading.result = response;
  }
  return requests;
}

test('reads a search in the thread after it has indexed new events', async () => {
  largeAbove(0);
  await fixture.customer('Zirconium');
  const search = async (): Promise<void> =>
    assert.is((await fixture.staff.get('/api/events/?search=Zirconium')).headers.get('X-Result-Count'), '1');
  const requests = await queriesDuring(search);
  assert.ok(requests.flat().some((text) => text.includes('event_words MATCH')));
});

test('sends many short reads of a large table to the thread together', async () => {
  const { db } = fixture.server.app;
  const queries = [1, 2, 3, 4].map((size) => sql`SELECT count(*) FROM event WHERE id > ${0} AND id < ${size}`);
  for (const { text, values } of queries) db.recordThreadRead({ text, values, isPlucked: true }, 0);
  largeAbove(0);
  const reads = new DeferredReads('somebody');
  db.withDeferredReads(reads, () => db.deferTogether(queries.slice(0, 3)));
  assert.throws(
    () => db.withDeferredReads(reads, () => db.deferTogether(queries)),
    (error: unknown) => (error as DeferredRead).queries.length === 4,
  );
});

test('defers only deferrable reads', () => {
  const { db } = fixture.server.app;
  largeAbove(0);
  const query = sql`SELECT uuid FROM customer ORDER BY length(name)`;
  const reads = new DeferredReads('a caller');
  db.withDeferredReads(reads, () => {
    const all = db.values<string>(query);
    assert.ok(all.length > 0);
    assert.equal(
      db.all<{ uuid: string }>(query).map((row) => row.uuid),
      all,
    );
    assert.is(db.value(query), all[0]);
    assert.is(db.get<{ uuid: string }>(query)?.uuid, all[0]);
    const isDeferred = (error: unknown): boolean => (error as DeferredRead).queries.length === 1;
    assert.throws(() => db.deferrableAll(query), isDeferred);
    assert.throws(() => db.deferrableValues(query), isDeferred);
  });
});

test('counts rows once, with concurrent changes while the thread counts', async () => {
  const total = async (): Promise<number> =>
    Number((await fixture.staff.get('/api/customers/')).headers.get('X-Result-Count'));
  largeAbove(1e9);
  const before = await total();
  largeAbove(0);
  let created: Json;
  afterReading(async () => {
    created = await fixture.customer('Counted');
  });
  assert.is(await total(), before + 1);
  largeAbove(0);
  afterReading(() => fixture.staff.delete(created.url));
  // The count at either moment, and later the current one.
  assert.ok([before, before + 1].includes(await total()));
  assert.is(await total(), before);
});

/** Keeps the thread busy for about a second. */
const busy = {
  text: 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000000) SELECT count(*) FROM n',
  values: [],
  isPlucked: true,
};
const never = (): boolean => false;

test('rejects reads above the queue limit, and runs none for disconnected clients', async () => {
  largeAbove(0);
  const { db } = fixture.server.app;
  const working = thread().result(new DeferredReads('somebody'), [busy], never);
  const leaving = new AbortController();
  const headers = { Authorization: `Token ${fixture.staff.token}` };
  const ask = (i: number): Promise<Response> =>
    fetch(`${fixture.url}/api/customers/?name=wait${i}`, { headers, signal: leaving.signal });
  const waiting = Array.from({ length: 64 }, (_, i) => ask(i).catch(() => undefined));
  // Rejects a read of the caller with the most waiting reads. Here all have the same caller.
  const rejection = await Promise.race([...waiting, ...[64, 65].map((i) => ask(i))]);
  assert.is(rejection?.status, 503);
  assert.is(rejection?.headers.get('Retry-After'), '1');
  assert.equal(await rejection?.json(), { detail: 'Too many long lists are being read at once. Try again.' });
  leaving.abort();
  let read = 0;
  const took = db.recordThreadRead.bind(db);
  db.recordThreadRead = (...args) => {
    read++;
    took(...args);
  };
  await Promise.all([working, ...waiting]);
  await thread().result(new DeferredReads('somebody else'), [{ ...busy, text: 'SELECT 1' }], never);
  db.recordThreadRead = took;
  assert.is(read, 2, 'the slow one and the last one');
});

test('gives up a read that takes too long, and starts a new thread for the next', async () => {
  const reading = thread();
  Object.assign(reading, { milliseconds: 20 });
  const error: unknown = await reading.result(new DeferredReads('somebody'), [busy], never).catch((thrown) => thrown);
  Object.assign(reading, { milliseconds: 60_000 });
  assert.instance(error, HttpError);
  assert.equal((error as InstanceType<typeof HttpError>).status, 503);
  assert.equal((error as InstanceType<typeof HttpError>).body, {
    detail: 'Reading this takes too long. Ask for less of it.',
  });
  largeAbove(0);
  assert.equal(await named(fixture.staff, 'Renamed'), ['1', ['Renamed 20']]);
});

test('reads on the main thread when the reader thread cannot', async () => {
  largeAbove(0);
  const { db } = fixture.server.app;
  const reads = new DeferredReads('somebody');
  const query = sql`SELECT country_name(country) FROM customer ORDER BY 1 LIMIT 1`;
  const now = db.values(query);
  const read = (): unknown => db.withDeferredReads(reads, () => db.deferrableValues(query));
  const deferred = (() => {
    try {
      return read();
    } catch (error) {
      return error;
    }
  })();
  assert.ok((deferred as DeferredRead).queries.length > 0);
  await thread().result(reads, (deferred as DeferredRead).queries, never);
  assert.equal(read(), now);
});

test.run();
