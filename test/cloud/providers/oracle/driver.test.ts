/** Details of Oracle's driver: polled requests, request bodies, and lost responses. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { raw } from '../../../../src/kernel/db/sql.ts';
import type { Json } from '../../../support/fixture.ts';
import { OracleAccount } from '../../../vendors/oracle/account.ts';

const test = suite('Oracle for real (providers.md 9)');
let account: OracleAccount;
const create = 'POST /em/cloud/dbaas/dbplatformtemplate/:id';
const byRequest = '/em/cloud/dbaas/dbplatforminstance/byrequest/:id';

test.before.each(async () => {
  account = await OracleAccount.open();
});
test.after.each(() => account.close());

const result = async ({ url }: Json): Promise<unknown[]> => {
  await account.collectStates(url);
  const { error_message: text, runtime_state: runtime, state } = await account.read(url);
  return [state, runtime, text];
};
const count = (route: string): number => account.calls().filter((called) => called === route).length;

test('sends an order in the format of Oracle', async () => {
  await account.created(await account.order('ledger', { backend_service_name: 'books', description: 'Of 2018' }));
  assert.equal(
    [...account.vendor.databases.values()].map(({ name, params, zone }) => ({ name, params, zone })),
    [
      {
        name: 'ledger',
        zone: '/em/cloud/dbaas/zone/82CF0',
        params: { username: 'SYSTEM', password: 'tiger-tiger', service_name: 'books' },
      },
    ],
  );
});

test('polls a request every half minute', async () => {
  const { url } = await account.order('ledger');
  const looks: number[] = [];
  for (let second = 0; second < 100; second++) {
    await account.advance(1);
    if (account.calls().includes(`GET ${byRequest}`)) looks.push(second);
  }
  const [first = 0] = looks;
  assert.equal(
    looks.map((second) => second - first),
    [0, 30, 60],
  );
  assert.is((await account.read(url)).state, 'OK');
});

test('marks a database as Erred after an exception and allows its deletion', async () => {
  const ordered = await account.order('ledger');
  await account.advance(5);
  Object.assign(account.vendor.database('1'), { request: 'EXCEPTION', status: 'Out of space', next: undefined });
  const uri = byRequest.replace(':id', '1');
  assert.equal(await result(ordered), ['Erred', 'Out of space', `Action ${uri} failed: Out of space`]);
  account.vendor.database('1').request = 'READY';
  assert.equal((await account.remove(ordered)).at(-1), 'gone');
  assert.is(account.vendor.databases.size, 0);
});

test('never shows the password of a database in a response, event, log or row', async () => {
  const ordered = await account.order('ledger', { password: 'tiger' });
  const rejection = '400. Request to Oracle backend failed: {"message":"The password *** is too short"}';
  assert.equal(await result(ordered), ['Erred', '', rejection]);
  const { db } = account.fixture.server.app;
  const stored = ['job', 'resource', 'event'].flatMap((table) => db.all<object>(raw(`SELECT * FROM ${table}`)));
  assert.not.ok(JSON.stringify(stored).includes('tiger'));
});

test('sends no second order after a lost response when Oracle does not list existing databases', async () => {
  account.vendor.lists = false;
  account.vendor.server.injectFault(create, 'lost');
  const ordered = await account.order('ledger');
  assert.equal(await result(ordered), ['Erred', '', 'Backend does not respond']);
  assert.equal([count(create), account.vendor.databases.size], [1, 1]);
  assert.equal(await result(await account.order('books')), ['OK', 'RUNNING', '']);
});

test('distinguishes two databases with the same name', async () => {
  await account.created(await account.order('ledger'));
  account.vendor.server.injectFault(create, 'lost');
  const second = await account.created(await account.order('ledger'));
  assert.equal([second.backend_id, account.vendor.databases.size], ['2', 2]);
});

test('finds running operations after lost responses and repeats those that never started', async () => {
  const ledger = await account.created(await account.order('ledger'));
  for (const [action, state, fault, calls] of [
    ['stop', 'STOPPED', 'lost', 1],
    ['start', 'RUNNING', 'reset', 2],
    ['restart', 'RUNNING', 'lost', 2],
  ] as const) {
    account.vendor.server.injectFault(`POST ${byRequest}`, fault);
    assert.is((await account.alice.post(`${ledger.url}${action}/`)).status, 202);
    assert.equal([await result(ledger), count(`POST ${byRequest}`)], [['OK', state, ''], calls], action);
  }
  account.vendor.server.injectFault(`DELETE ${byRequest}`, 'lost');
  assert.is((await account.remove(ledger)).at(-1), 'gone');
  assert.is(count(`DELETE ${byRequest}`), 1);
});

test('a synchronisation finds changed and missing databases', async () => {
  const [ledger, books] = [
    await account.created(await account.order('ledger')),
    await account.created(await account.order('books')),
  ];
  account.vendor.database(ledger.backend_id).status = 'STOPPED';
  account.vendor.databases.delete(books.backend_id);
  assert.equal(await account.sync(), ['In Sync', '']);
  assert.equal(await result(ledger), ['OK', 'STOPPED', '']);
  assert.equal(await result(books), ['Erred', '', 'Does not exist at backend.']);
});

test('accepts only status 200 as success', async () => {
  account.vendor.server.injectFault('GET /em/cloud/service_family_type/dbaas', { status: 204, text: '' }, 1);
  assert.equal(await account.sync(), ['Erred', 'Unexpected answer of backend']);
});

test.run();
