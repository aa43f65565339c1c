import { providerTypes } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Driver, Inventory } from '../../../src/cloud/catalogue/driver.ts';
import { checkByOwnDocument } from '../../support/contract.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { lighthouse } from '../../support/lighthouse.ts';

const test = suite('accounts with many objects (services.md 2.3)');

const lamps = 1000;

const inventory: Inventory = {
  properties: {
    Coast: Array.from({ length: 300 }, (_, i) => ({ backend_id: `c${i}`, name: `Coast ${i}`, details: { depth: i } })),
  },
  quotas: {},
  objects: Array.from({ length: lamps }, (_, i) => ({
    kind: 'Lamp',
    backend_id: `l${i}`,
    name: `Lamp ${i}`,
    values: { watts: 40, runtime_state: 'lit' },
  })),
};

/** A provider that has all of these objects, without any behaviour. */
const done = async () => ({ kind: 'done' }) as const;
const provider: Driver = {
  ping: async () => undefined,
  sync: async () => inventory,
  create: done,
  update: done,
  delete: done,
  action: done,
  pull: async () => ({}),
};

/** Starts an embedded server with that provider, and counts the statements of each transaction. */
async function startWithProvider(): Promise<{ fixture: Fixture; transactions: number[]; close: () => Promise<void> }> {
  const fixture = await Fixture.start({ providers: [...providerTypes, { ...lighthouse, driver: () => provider }] });
  const { db } = fixture.server.app;
  const forget = await checkByOwnDocument(fixture.url);
  const { run, write } = db;
  const transactions: number[] = [];
  let statements = 0;
  db.run = (requests) => {
    statements += 1;
    return run.call(db, requests);
  };
  db.write = <T>(work: () => T): T => {
    statements = 0;
    const result: T = Reflect.apply(write, db, [work]);
    transactions.push(statements);
    return result;
  };
  const close = async (): Promise<void> => {
    forget();
    await fixture.close();
  };
  return { fixture, transactions, close };
}

/** Adds an account with all of these objects; returns its service. */
async function addAccount(fixture: Fixture, name: string): Promise<Json> {
  const created = await fixture.staff.post('/api/lighthouse/', {
    name,
    customer: (await fixture.customer(name)).url,
    backend_url: 'https://light.example.com',
    token: 'secret',
  });
  assert.is(created.status, 201);
  return created.body;
}

test('stores an inventory in steps and serves other requests in between', async () => {
  const { close, fixture, transactions } = await startWithProvider();
  try {
    const created = await addAccount(fixture, 'Large');
    for (let i = 0; i < 4; i++) await fixture.advance(1);
    assert.is((await fixture.staff.get(created.settings)).body.state, 'In Sync');
    assert.is((await fixture.staff.get('/api/lighthouse-coasts/')).headers.get('x-result-count'), '300');
    assert.is((await fixture.staff.get(`${created.url}link/`)).headers.get('x-result-count'), String(lamps));
    assert.ok(transactions.length > 10, `${transactions.length} transactions`);
    assert.ok(Math.max(...transactions) <= 101, `${Math.max(...transactions)} statements in one transaction`);
  } finally {
    await close();
  }
});

test('alternates the steps of several accounts and serves other requests in between', async () => {
  const { close, fixture, transactions } = await startWithProvider();
  /** The number of long transactions in each turn of the event loop. */
  const turns: number[] = [];
  const look = (): void => {
    turns.push(transactions.splice(0).filter((statements) => statements > 50).length);
    next = setImmediate(look);
  };
  let next = setImmediate(look);
  try {
    const created: Json[] = [];
    for (const name of ['First', 'Second', 'Third']) created.push(await addAccount(fixture, name));
    for (let i = 0; i < 4; i++) await fixture.advance(1);
    for (const { settings } of created) assert.is((await fixture.staff.get(settings)).body.state, 'In Sync');
    const several = turns.filter((steps) => steps > 1).length;
    assert.ok(turns.filter((steps) => steps === 1).length > 20, 'there were steps');
    assert.ok(several <= 1, `several steps in ${several} turns, and not in the first alone`);
  } finally {
    clearImmediate(next);
    await close();
  }
});

test.run();
