/** Kills the program's process while its operations run at the vendor. */
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { DigitalOcean } from '../../../vendors/digitalocean/stand-in.ts';
import { KillTest } from '../../../vendors/kill.ts';
import { until } from '../../../vendors/killable-server.ts';

const kill = new KillTest('kill -9 with DigitalOcean', DigitalOcean.start);
const { ask, server, test } = kill;

const list = 'digitalocean-droplets';
const [make, act] = ['POST /droplets', 'POST /droplets/:id/actions'] as const;

const inState = async (...states: string[]): Promise<number> =>
  (await kill.rows(list)).filter(({ state }) => states.includes(state)).length;

/** Returns the link of an account's property by name. */
const find = async (path: string, name: string, settings: string): Promise<string> =>
  (await ask('GET', `/api/digitalocean-${path}/?settings_uuid=${settings}&name_exact=${encodeURIComponent(name)}`))[0]
    .url;

test('a kill during fifty operations neither loses nor repeats one', async () => {
  const { vendor } = kill;
  // Thirteen accounts, so that fifty operations run at once, four per account.
  const links = await server.connect('digitalocean', 13, { backend_url: vendor.url, token: 'full-access' });
  const places = await Promise.all(
    links.map(async ({ service, url }) => {
      const { settings_uuid: settings } = await ask('GET', service);
      return {
        service_project_link: url,
        region: await find('regions', 'New York 3', settings),
        image: await find('images', 'Debian 9.2 x64', settings),
        size: await find('sizes', 's-1vcpu-1gb', settings),
      };
    }),
  );
  const order = (n: number): Promise<Json> =>
    ask('POST', '/api/digitalocean-droplets/', { name: `web-${n}`, ...places[n % 13] });

  const running = [];
  for (let n = 0; n < 14; n++) running.push(await order(n));
  await until('creation of the first', async () => (await inState('OK')) === 14);

  // A third of the calls are executed without a response, a third are not executed, and a third get a response.
  vendor.actionTime = 1e9;
  kill.injectFaults([make], 12);
  kill.injectFaults([act], 5);
  for (let n = 14; n < 50; n++) await order(n);
  for (const [n, { url }] of running.entries()) await ask('POST', `${url}${n % 2 ? 'stop' : 'restart'}/`);
  await until('every call', () => kill.countCalls(make) + kill.countCalls(act) === 50);
  assert.equal([await inState('Creating'), await inState('Updating')], [36, 14]);

  await server.kill();
  vendor.actionTime = 8000;
  await server.start();
  await until('every operation', async () => (await inState('OK', 'Erred')) === 50);

  const present = await kill.rows(list);
  assert.equal(
    present.filter(({ state }) => state === 'Erred').map(({ error_message: text }) => text),
    [],
  );
  // The vendor has every droplet exactly once.
  const ofVendor = [...vendor.droplets.values()].map(({ id, name }) => `${name} ${id}`).sort();
  assert.equal(ofVendor, present.map(({ backend_id: id, name }) => `${name} ${id}`).sort());
  assert.is(ofVendor.length, 50);
  // Every action was started exactly once.
  const types = [...vendor.actions.values()]
    .filter(({ droplet }) => vendor.droplets.has(droplet))
    .map(({ type }) => type);
  assert.equal(
    ['create', 'shutdown', 'reboot'].map((wanted) => types.filter((type) => type === wanted).length),
    [50, 7, 7],
  );
  assert.equal(present.map(({ runtime_state: state }) => state).sort(), [
    ...Array(7).fill('offline'),
    ...Array(43).fill('online'),
  ]);
  // Every operation was reported exactly once.
  const { countEvents: reports } = server;
  assert.equal(
    [
      await reports('resource_creation_succeeded'),
      await reports('resource_stop_succeeded'),
      await reports('resource_restart_succeeded'),
    ],
    [50, 7, 7],
  );
  assert.equal(
    [
      await reports('resource_creation_failed'),
      await reports('resource_stop_failed'),
      await reports('resource_restart_failed'),
    ],
    [0, 0, 0],
  );
});

test('nor does a kill during starts, resizes and deletions', async () => {
  const { vendor } = kill;
  const inRuntime = async (wanted: string): Promise<Json[]> =>
    (await kill.rows(list)).filter(({ runtime_state: state }) => state === wanted);
  const offline = await inRuntime('offline');
  const [started, resized, doomed] = [
    offline.slice(0, 3),
    offline.slice(3, 6),
    (await inRuntime('online')).slice(0, 2),
  ];
  const [remove, before] = ['DELETE /droplets/:id', vendor.actions.size];
  vendor.actionTime = 1e9;
  kill.injectFaults([act], 2);
  kill.injectFaults([remove]);
  for (const { url } of started) await ask('POST', `${url}start/`);
  for (const { service_settings: settings, url } of resized) {
    const size = await find('sizes', 's-2vcpu-4gb', settings.split('/').at(-2));
    await ask('POST', `${url}resize/`, { size, disk: false });
  }
  for (const { url } of doomed) await ask('DELETE', url);
  await until('every call', () => kill.countCalls(act) === 6 && kill.countCalls(remove) === 2);
  await server.kill();
  vendor.actionTime = 8000;
  await server.start();
  await kill.waitForOperations(list);
  const present = await kill.rows(list);
  assert.equal(
    present.filter(({ state }) => state === 'Erred').map(({ error_message: text }) => text),
    [],
  );
  assert.equal([present.length, vendor.droplets.size], [48, 48]);
  const at = (droplets: readonly Json[]): Json[] =>
    droplets
      .map(({ uuid }) => present.find((one) => one.uuid === uuid))
      .map(({ cores, runtime_state: state }) => [state, cores]);
  assert.equal(at(started), Array(3).fill(['online', 1]));
  assert.equal(at(resized), Array(3).fill(['offline', 2]));
  assert.is(vendor.actions.size, before + 6);
});

test.run();
