import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { providerTypes } from '../../../src/app/providers.ts';
import type { Driver, Inventory } from '../../../src/cloud/catalogue/driver.ts';
import { describedBy } from '../../support/contract.ts';
import { Fixture } from '../../support/fixture.ts';
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

/** A provider that has all of it, and does nothing. */
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

test('what a synchronisation found is stored in steps, so that others are served between them', async () => {
  const types = [...providerTypes, { ...lighthouse, driver: () => provider }];
  const fixture = await Fixture.start({ providers: types });
  const { catalogue, db } = fixture.server.app;
  const forget = describedBy(fixture.url, catalogue);
  const { run, write } = db;
  /** Statements that each transaction ran. */
  const transactions: number[] = [];
  let statements = 0;
  db.run = (asked) => {
    statements += 1;
    return run.call(db, asked);
  };
  db.write = <T>(work: () => T): T => {
    statements = 0;
    const result: T = Reflect.apply(write, db, [work]);
    transactions.push(statements);
    return result;
  };
  try {
    const made = await fixture.staff.post('/api/lighthouse/', {
      name: 'Large',
      customer: (await fixture.customer('Many')).url,
      backend_url: 'https://light.example.com',
      token: 'secret',
    });
    assert.is(made.status, 201);
    for (let i = 0; i < 4; i++) {
      await fixture.later(1);
    }
    assert.is((await fixture.staff.get(made.body.settings)).body.state, 'In Sync');
    assert.is((await fixture.staff.get('/api/lighthouse-coasts/')).headers.get('x-result-count'), '300');
    assert.is((await fixture.staff.get(`${made.body.url}link/`)).headers.get('x-result-count'), String(lamps));
    assert.ok(transactions.length > 10, `${transactions.length} transactions`);
    assert.ok(Math.max(...transactions) <= 101, `${Math.max(...transactions)} statements in one transaction`);
  } finally {
    forget();
    await fixture.close();
  }
});

test.run();
