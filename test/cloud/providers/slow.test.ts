/** Timeouts of vendors that do not respond (providers.md 2 "ping", "Time"), for all vendors at once. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ProviderError } from '../../../src/cloud/catalogue/provider-error.ts';
import { driverOf, driverSettings } from '../../../src/cloud/operations/drivers.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { FaultyAccount, FaultyVendor } from '../../vendors/faulty-vendor.ts';
import { faultyVendors } from '../../vendors/faulty-vendors.ts';

const vendors: readonly FaultyVendor[] = Object.values(faultyVendors);

/** Returns the result of work and its duration in seconds. */
async function timed<T>(work: Promise<T>): Promise<[T, number]> {
  const begun = performance.now();
  return [await work, (performance.now() - begun) / 1000];
}

/** Waits until the vendor has received the call. */
async function requests({ faulty }: FaultyAccount, route: string): Promise<void> {
  while (!faulty.take().some((call) => call.route === route)) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Checks that credentials time out after 10 s, and any other call after 30 s. */
async function assertTimeouts({ name, open, prefix, routes }: FaultyVendor): Promise<void> {
  const account = await open();
  const { faulty, fixture, service } = account;
  faulty.take();
  faulty.injectFault(routes.ping, 'no response', 2);
  const trial = timed(fixture.staff.post(`/api/${prefix}/`, account.body({ name: 'Second' })));
  await requests(account, routes.ping);
  const { app } = fixture.server;
  const id = app.db.scalar<number>(sql`SELECT id FROM service_settings WHERE uuid = ${service.settings_uuid}`);
  const settings = driverSettings(app, id);
  assert.ok(settings);
  const call = timed(
    driverOf(app, settings)
      .ping()
      .then(
        () => undefined,
        (error: unknown) => error,
      ),
  );
  const [{ body, status }, tried] = await trial;
  assert.equal([status, body], [400, { non_field_errors: ['Wrong settings: Backend does not respond.'] }], name);
  assert.ok(tried > 9.9 && tried < 20, `${name}: ${tried} s`);
  faulty.injectFault(routes.ping, { delay: 9000 });
  const [slow, responded] = await timed(fixture.staff.post(`/api/${prefix}/`, account.body({ name: 'Second' })));
  assert.equal([slow.status, responded > 8.9], [201, true], name);
  const [error, waited] = await call;
  assert.instance(error, ProviderError, name);
  assert.equal(
    [(error as ProviderError).type, (error as ProviderError).message],
    ['unavailable', 'Backend does not respond'],
  );
  assert.ok(waited > 29.9 && waited < 45, `${name}: ${waited} s`);
  await account.close();
}

test('times out after 10 s for checking credentials, and after 30 s for a call', async () => {
  await Promise.all(vendors.map(assertTimeouts));
});

test.run();
