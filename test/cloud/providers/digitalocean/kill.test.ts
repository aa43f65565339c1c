/** The program as a process that is killed while its operations run at the vendor. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { DigitalOcean } from '../../../vendors/digitalocean/stand-in.ts';
import { KillableServer, until } from '../../../vendors/killable-server.ts';

const test = suite('kill -9');
let server: KillableServer;
let vendor: DigitalOcean;

test.before(async () => {
  server = new KillableServer();
  vendor = await DigitalOcean.start(server.now);
  await server.start();
});

test.after(async () => {
  await server.end();
  await vendor.close();
});

const ask = (method: string, path: string, body?: unknown): Promise<Json> => server.ask(method, path, body);

/** All droplets, as the API shows them. */
async function droplets(): Promise<Json[]> {
  return ask(
    'GET',
    '/api/digitalocean-droplets/?page_size=200&o=name&field=name&field=state&field=runtime_state&field=backend_id&field=error_message&field=url',
  );
}

const inState = async (...states: string[]): Promise<number> =>
  (await droplets()).filter(({ state }) => states.includes(state)).length;

/** The link of what an account offers, by its name. */
const find = async (path: string, name: string, settings: string): Promise<string> =>
  (await ask('GET', `/api/digitalocean-${path}/?settings_uuid=${settings}&name_exact=${encodeURIComponent(name)}`))[0]
    .url;

const posts = (): number =>
  posted.push(
    ...vendor
      .take()
      .map(({ line }) => line)
      .filter((line) => line.startsWith('POST')),
  );
const posted: string[] = [];

test('in the middle of fifty running operations loses none and doubles none', async () => {
  // Thirteen accounts, so that four operations of each make fifty at once.
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
  vendor.take();

  // A third of the calls is done and not answered, a third not even done, a third answered and followed.
  vendor.actionTime = 1e9;
  vendor.mishap('POST /droplets', 'silence', 12);
  vendor.mishap('POST /droplets', 'swallowed', 12);
  vendor.mishap('POST /droplets/:id/actions', 'silence', 5);
  vendor.mishap('POST /droplets/:id/actions', 'swallowed', 5);
  for (let n = 14; n < 50; n++) await order(n);
  for (const [n, { url }] of running.entries()) await ask('POST', `${url}${n % 2 ? 'stop' : 'restart'}/`);
  await until('every call', () => posts() === 50);
  assert.equal([await inState('Creating'), await inState('Updating')], [36, 14]);

  await server.kill();
  vendor.actionTime = 8000;
  await server.start();
  await until('every operation', async () => (await inState('OK', 'Erred')) === 50);

  const present = await droplets();
  assert.equal(
    present.filter(({ state }) => state === 'Erred').map(({ error_message: text }) => text),
    [],
  );
  // Every droplet is exactly once at the vendor.
  const ofVendor = [...vendor.droplets.values()].map(({ id, name }) => `${name} ${id}`).sort();
  assert.equal(ofVendor, present.map(({ backend_id: id, name }) => `${name} ${id}`).sort());
  assert.is(ofVendor.length, 50);
  // Every action was begun exactly once.
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
  // And everything was told exactly once.
  const { told } = server;
  assert.equal(
    [
      await told('resource_creation_succeeded'),
      await told('resource_stop_succeeded'),
      await told('resource_restart_succeeded'),
    ],
    [50, 7, 7],
  );
  assert.equal(
    [await told('resource_creation_failed'), await told('resource_stop_failed'), await told('resource_restart_failed')],
    [0, 0, 0],
  );
});

test.run();
