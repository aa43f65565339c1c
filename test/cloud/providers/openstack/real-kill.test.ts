/** The program as a process that is killed in the middle of a flow, over and over. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OpenStack } from '../../../support/openstack/stand-in.ts';
import { KillableServer, until } from '../../../vendors/killable-server.ts';
import { credentials } from './real-cloud.ts';

const test = suite('OpenStack: kill -9 in the middle of a flow');
const server = new KillableServer();
let vendor: OpenStack;

test.before(async () => {
  vendor = await OpenStack.start(server.now);
  await server.start();
});

test.after(async () => {
  await server.end();
  await vendor.close();
});

test('a tenant is made once with all its parts, wherever its creation was cut off', async () => {
  const [link] = await server.connect('openstack', 1, credentials(vendor));
  const tenant = await server.ask('POST', '/api/openstack-tenants/', { service_project_link: link.url, name: 'Lab' });
  const lists = ['identity/projects', 'network/subnets', 'network/security-groups'];
  for (const list of lists) {
    vendor.take();
    // It is done, and nobody is told.
    vendor.mishap(`POST ${list}`, 'silence');
    await until(list, () => vendor.take().includes(`POST ${list}`));
    await server.kill();
    await server.start();
  }
  await until('creation', async () => ['OK', 'Erred'].includes((await server.ask('GET', tenant.url)).state));
  const made = await server.ask('GET', tenant.url);
  assert.is(made.state, 'OK', made.error_message);
  const names = (list: string): string[] => vendor.all(list).map(({ name }) => name);
  assert.equal(names('identity/projects'), ['admin', 'Lab']);
  assert.equal(vendor.all('identity/projects').at(-1).id, made.backend_id);
  assert.equal(
    ['identity/users', 'network/networks', 'network/subnets', 'network/routers'].map((list) => names(list).length),
    [1, 1, 1, 1],
  );
  assert.equal(names('network/security-groups'), ['allow-all', 'ssh', 'ping', 'rdp', 'web']);
});

test.run();
