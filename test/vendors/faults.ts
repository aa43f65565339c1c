/**
 * Faults that every driver must handle, in one table for all vendors. A vendor provides its form of rejections and how to create
 * a machine; the faults and the expected results are shared.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, type Test } from 'uvu';
import * as assert from 'uvu/assert';
import { ProviderError } from '../../src/cloud/catalogue/provider-error.ts';
import { VendorHttp } from '../../src/cloud/catalogue/vendor-http.ts';
import { driverSettings } from '../../src/cloud/operations/drivers.ts';
import { raw, sql } from '../../src/kernel/db/sql.ts';
import { certificate } from '../support/certificate.ts';
import type { Json } from '../support/fixture.ts';
import type { FaultyAccount, FaultyVendor } from './faulty-vendor.ts';
import type { Fault, VendorResponse } from './server.ts';

const unexpected = 'Unexpected answer of backend';
const silent = 'Backend does not respond';
const hugeResponse: VendorResponse = { status: 200, text: 'x'.repeat(20 * 1024 * 1024) };
const plainText: VendorResponse = { status: 200, text: 'It works!' };
const redirect: VendorResponse = { status: 302, headers: { Location: 'http://127.0.0.1:1/' }, text: '' };

/** A fault of a call, how often it occurs, and the resulting error of an operation. */
interface FaultCase {
  readonly what: string;
  readonly fault: (vendor: FaultyVendor) => Fault;
  readonly times?: number;
  readonly text: string;
  /** Status of a rejection whose text is reported. */
  readonly status?: number;
}

const rejection = (status: number): FaultCase => ({
  what: String(status),
  fault: ({ denial }) => denial(status, `Rejected with ${status}`),
  text: `Rejected with ${status}`,
  status,
});

/** Returns the reported text of a rejection by a vendor. */
const reportsBy = ({ reported: reports }: FaultyVendor, text: string, status: number | undefined): string =>
  reports && status !== undefined ? reports(status, text) : text;

const rejections: readonly FaultCase[] = [401, 403, 404, 409].map(rejection);

const malformedResponses: readonly FaultCase[] = [
  { what: 'half a response', fault: () => 'half', text: unexpected },
  { what: 'a response in plain text', fault: () => plainText, text: unexpected },
  { what: 'a response of 20 MB', fault: () => hugeResponse, text: unexpected },
  { what: 'a redirect', fault: () => redirect, text: unexpected },
];

/** Faults after which a call is retried. */
const transientFaults: readonly FaultCase[] = [
  { what: '500', fault: ({ denial }) => denial(500, 'Oops'), times: 4, text: silent },
  { what: '503', fault: ({ denial }) => denial(503, 'Later'), times: 4, text: silent },
  { what: 'a connection reset before the response', fault: () => 'reset', times: 4, text: silent },
  { what: 'a connection cut in the middle of the response', fault: () => 'broken off', times: 4, text: silent },
];

/** Registers and runs the fault tests of a vendor. */
export function faults(vendor: FaultyVendor): void {
  const test = suite(`faults of ${vendor.name}`);
  const held: { account?: FaultyAccount } = {};
  const account = (): FaultyAccount => held.account as FaultyAccount;
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-faults-'));
  const log = join(folder, 'log');
  test.before(async () => {
    held.account = await vendor.open({ log_level: 'debug', log_file: log });
  });
  test.after(async () => {
    await account().close();
    const text = readFileSync(log, 'utf8');
    rmSync(folder, { recursive: true });
    // The log covers all faults above.
    assert.match(text, '"vendor call failed"');
    for (const secret of secrets) assert.not.ok(text.includes(secret), 'a secret is in the log');
  });
  accountFaults(test, vendor, account);
  machineFaults(test, vendor, account);
  connectionFaults(test, vendor, account);
  const secrets = new Set<string>();
  test('no representation and no stored row contains a secret', async () => {
    for (const secret of account().faulty.secrets) secrets.add(secret);
    await assertSecrecy(account());
  });
  credentialFaults(test, vendor, account);
  test.run();
}

type Held = () => FaultyAccount;

async function assertSecrecy({ faulty, fixture }: FaultyAccount): Promise<void> {
  const lists = ['service-settings', 'resources', 'events', 'alerts'].map((path) => fixture.staff.get(`/api/${path}/`));
  const texts = (await Promise.all(lists)).map(({ body }) => JSON.stringify(body));
  const stored = ['job', 'resource', 'event', 'service_settings'].flatMap((table) =>
    fixture.server.app.db.all<object>(raw(`SELECT * FROM ${table}`)),
  );
  for (const secret of faulty.secrets)
    for (const text of [...texts, JSON.stringify(stored)]) assert.not.ok(text.includes(secret));
}

function accountFaults(test: Test, vendor: FaultyVendor, held: Held): void {
  const { ping } = vendor.routes;

  for (const { fault, status, text, times, what } of [...rejections, ...malformedResponses, ...transientFaults]) {
    test(`${what} sets the account to Erred until the next synchronisation`, async () => {
      const account = held();
      account.faulty.injectFault(ping, fault(vendor), times);
      const reports = times === undefined ? (vendor.pingRejection ?? reportsBy(vendor, text, status)) : text;
      assert.equal(await account.sync(15), ['Erred', reports]);
      const alerts = (await account.fixture.staff.get('/api/alerts/?opened&alert_type=service_unavailable')).body;
      assert.equal(
        alerts.map(({ scope }: Json) => scope),
        [account.service.url],
      );
      assert.equal(await account.sync(), ['In Sync', '']);
      assert.equal((await account.fixture.staff.get('/api/alerts/?opened&alert_type=service_unavailable')).body, []);
    });
  }

  for (const { fault, what } of transientFaults) {
    test(`${what} has no effect if it occurs once`, async () => {
      held().faulty.injectFault(ping, fault(vendor));
      assert.equal(await held().sync(5), ['In Sync', '']);
    });
  }

  for (const status of [429, 503]) {
    test(`${status} delays the retry until Retry-After`, async () => {
      const account = held();
      account.faulty.injectFault(ping, vendor.denial(status, 'Later', { 'Retry-After': '40' }));
      account.faulty.take();
      account.fixture.clock.advance(30 * 60);
      const tries: number[] = [];
      for (let second = 0; second < 45; second++) {
        await account.advance(1);
        if (account.faulty.take().some(({ route }) => route === ping)) tries.push(second);
      }
      assert.equal(
        tries.map((second) => second - (tries[0] as number)),
        [0, 40],
      );
      assert.is((await account.settings()).state, 'In Sync');
    });
  }

  test('rejected credentials create no service, and the error does not contain them', async () => {
    const account = held();
    const { faulty, fixture } = account;
    const body = account.body({ name: 'Second' });
    faulty.injectFault(ping, vendor.denial(403, `${faulty.secrets[0]} is suspended`));
    const reply = await fixture.staff.post(`/api/${vendor.prefix}/`, body);
    const reports = vendor.pingRejection ?? reportsBy(vendor, '*** is suspended', 403);
    assert.equal([reply.status, reply.body], [400, { non_field_errors: [`Wrong settings: ${reports}.`] }]);
    assert.is((await fixture.staff.get(`/api/${vendor.prefix}/`)).body.length, 1);
  });
}

function machineFaults(test: Test, vendor: FaultyVendor, held: Held): void {
  const { create } = vendor.routes;
  let orders = 0;

  /** Creates a machine under a fault; returns the number of requests and the result. */
  async function ordered(
    fault: Fault,
    times = 1,
  ): Promise<{ requests: number; machine: Json; created: readonly string[]; seconds: number }> {
    const { faulty, fixture, order, collectStates } = bound(held());
    faulty.injectFault(create, fault, times);
    faulty.take();
    const before = faulty.machines();
    const { url } = await order(`web-${++orders}`);
    const begun = fixture.clock.now();
    await collectStates(url);
    const requests = faulty.take().filter(({ route }) => route === create).length;
    return {
      requests,
      machine: (await fixture.staff.get(url)).body,
      created: faulty.machines().filter((id) => !before.includes(id)),
      seconds: (fixture.clock.now() - begun) / 1e6,
    };
  }

  const { hasTokens = false } = vendor;
  if (hasTokens)
    test('a creation rejected with 401 is retried with a new token', async () => {
      const { requests, machine, created } = await ordered(vendor.denial(401, 'Rejected with 401'));
      assert.equal([machine.state, machine.error_message, requests, created], ['OK', '', 2, [machine.backend_id]]);
    });

  for (const fault of rejections) {
    // The call is retried with a new token.
    const times = hasTokens && fault.status === 401 ? 2 : 1;
    test(`a creation rejected with ${fault.what} sets the machine to Erred with the message of the vendor`, async () => {
      const { requests, machine, created } = await ordered(fault.fault(vendor), times);
      const text = reportsBy(vendor, fault.text, fault.status);
      assert.equal([machine.state, machine.error_message, machine.backend_id], ['Erred', text, '']);
      assert.equal([requests, created], [times, []]);
      const reports = held().fixture.events().at(-1);
      assert.equal([reports?.type, reports?.context.error_message], ['resource_creation_failed', text]);
    });
  }

  for (const status of [429, 503])
    test(`a creation rejected with ${status} is sent again after Retry-After`, async () => {
      const { requests, machine, created, seconds } = await ordered(
        vendor.denial(status, 'Later', { 'Retry-After': '20' }),
        2,
      );
      assert.equal([machine.state, machine.error_message, requests, created], ['OK', '', 3, [machine.backend_id]]);
      assert.ok(seconds >= 40, `${seconds} s`);
    });

  const lost: readonly (readonly [string, Fault])[] = [
    ['without a response', 'lost'],
    ['whose response is cut off', 'broken off'],
    ['with half a response', 'half'],
  ];
  for (const [what, fault] of lost) {
    test(`an executed creation ${what} is found and not repeated`, async () => {
      const { requests, machine, created } = await ordered(fault);
      assert.equal([machine.state, machine.error_message, requests, created], ['OK', '', 1, [machine.backend_id]]);
    });
  }

  const undone: readonly (readonly [string, Fault])[] = [
    ['with a reset connection', 'reset'],
    ['rejected with 500', vendor.denial(500, 'Oops')],
    ['rejected with 503', vendor.denial(503, 'Later')],
    ['with a response in plain text', plainText],
    ['with a response of 20 MB', hugeResponse],
    ['with a redirect', redirect],
  ];
  for (const [what, fault] of undone) {
    test(`an unexecuted creation ${what} is sent again`, async () => {
      const { requests, machine, created } = await ordered(fault);
      assert.equal([machine.state, machine.error_message, requests, created], ['OK', '', 2, [machine.backend_id]]);
    });
  }

  test('a creation that never gets a response fails after four attempts', async () => {
    const { requests, machine, created } = await ordered('reset', 4);
    assert.equal([machine.state, machine.error_message, requests, created], ['Erred', silent, 4, []]);
  });

  test('a pull sets a machine that is missing at the vendor to Erred, and it can be deleted', async () => {
    const { machine } = await ordered({ delay: 0 });
    const { alice, faulty, fixture, collectStates } = bound(held());
    faulty.removeMachine(machine.backend_id);
    assert.is((await alice.post(`${machine.url}pull/`)).status, 202);
    await collectStates(machine.url);
    const { error_message: text, state } = (await fixture.staff.get(machine.url)).body;
    assert.equal([state, text], ['Erred', 'Does not exist at backend.']);
    assert.is((await fixture.staff.delete(machine.url)).status, 202);
    assert.is((await collectStates(machine.url)).at(-1), 'gone');
  });

  const { unknownState } = vendor;
  if (unknownState)
    test('shows an unknown state after a pull and after a synchronisation', async () => {
      const { machine } = await ordered({ delay: 0 });
      const { alice, faulty, fixture, collectStates, sync } = bound(held());
      faulty.setState?.(machine.backend_id, 'hibernating');
      const displayed = async (): Promise<unknown[]> => {
        const { runtime_state: runtime, state } = (await fixture.staff.get(machine.url)).body;
        return [state, runtime];
      };
      assert.is((await alice.post(`${machine.url}pull/`)).status, 202);
      await collectStates(machine.url);
      assert.equal(await displayed(), unknownState('hibernating'));
      assert.equal(await sync(), ['In Sync', '']);
      assert.equal(await displayed(), unknownState('hibernating'));
    });
}

function connectionFaults(test: Test, vendor: FaultyVendor, held: Held): void {
  test('rejects an unknown certificate, and trusts it if the settings contain it', async () => {
    const secure = await vendor.open({ identity: certificate, isConnected: false });
    try {
      const { staff } = secure.fixture;
      const path = `/api/${vendor.prefix}/`;
      const rejection = await staff.post(path, secure.body());
      assert.equal([rejection.status, rejection.body], [400, { non_field_errors: [`Wrong settings: ${silent}.`] }]);
      const form = new FormData();
      for (const [name, value] of Object.entries(secure.body())) form.set(name, String(value));
      form.set('certificate', new Blob([certificate.cert], { type: 'application/x-pem-file' }), 'ca.pem');
      const created = await staff.send('POST', path, form);
      assert.is(created.status, 201, JSON.stringify(created.body));
      await secure.advance(3);
      assert.is((await staff.get(created.body.settings)).body.state, 'In Sync');
    } finally {
      await secure.close();
    }
  });

  test('reports a vendor that does not respond in time as unavailable', async () => {
    const { faulty, fixture, service } = held();
    const { app } = fixture.server;
    const id = app.db.scalar<number>(sql`SELECT id FROM service_settings WHERE uuid = ${service.settings_uuid}`);
    const settings = driverSettings(app, id);
    const http = new VendorHttp({ resolve: app.resolve, allows: () => true, log: app.log, limits: { response: 100 } });
    const driver = settings && app.catalogue.type(settings.type).driver?.(settings, http);
    faulty.injectFault(vendor.routes.ping, 'no response');
    const error: unknown = await driver?.ping().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.instance(error, ProviderError);
    assert.equal([(error as ProviderError).type, (error as ProviderError).message], ['unavailable', silent]);
    await driver?.ping();
  });
}

function credentialFaults(test: Test, vendor: FaultyVendor, held: Held): void {
  test('invalidated credentials set the account to Erred until they are replaced', async () => {
    const account = held();
    const fields = account.faulty.replaceCredentials();
    assert.equal(await account.sync(), ['Erred', vendor.unauthorized]);
    const { body, status } = await account.fixture.staff.patch(account.service.settings, fields);
    assert.equal([status, body.state], [200, 'Sync Scheduled']);
    await account.advance(3);
    const { error_message: text, state } = await account.settings();
    assert.equal([state, text], ['In Sync', '']);
  });
}

/** Returns the methods of an account, bound to it. */
const bound = (account: FaultyAccount) => ({
  alice: account.alice,
  faulty: account.faulty,
  fixture: account.fixture,
  order: account.order.bind(account),
  collectStates: account.collectStates.bind(account),
  sync: account.sync.bind(account),
});
