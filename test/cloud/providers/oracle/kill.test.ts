/** Kills the program's process while it orders, stops and deletes databases at Oracle. */
import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { KillTest } from '../../../vendors/kill.ts';
import { Oracle } from '../../../vendors/oracle/stand-in.ts';

const kill = new KillTest('kill -9 with Oracle', Oracle.start);
const { ask, server, test } = kill;
const list = 'oracle-databases';

test('a kill during any operation neither loses nor repeats it', async () => {
  const { vendor } = kill;
  const [username, password] = [...vendor.passwords][0] ?? [];
  const links = await server.connect('oracle', 3, { backend_url: vendor.url, username, password });
  const [make, stop, end] = links as [Json, Json, Json];
  const order = async (name: string, { service, url }: Json): Promise<Json> => {
    const settings = `settings_uuid=${(await ask('GET', service)).settings_uuid}`;
    return ask('POST', '/api/oracle-databases/', {
      name,
      service_project_link: url,
      zone: (await ask('GET', `/api/oracle-zones/?${settings}`))[0].url,
      template: (await ask('GET', `/api/oracle-templates/?${settings}&name=Database`))[0].url,
      username: 'SYSTEM',
      password: 'tiger-tiger',
    });
  };
  const things: Json[] = [];
  for (const n of [1, 2]) things.push(await order(`stop-${n}`, stop), await order(`end-${n}`, end));
  await kill.waitForOperations(list);

  // Of every two calls, one is executed without a response, and one is not executed.
  const byRequest = '/em/cloud/dbaas/dbplatforminstance/byrequest/:id';
  const routes = ['POST /em/cloud/dbaas/dbplatformtemplate/:id', `POST ${byRequest}`, `DELETE ${byRequest}`];
  kill.injectFaults(routes);
  for (const n of [1, 2]) await order(`make-${n}`, make);
  for (const { name, url } of things) await (name.startsWith('stop') ? ask('POST', `${url}stop/`) : ask('DELETE', url));
  await kill.waitForCalls(routes, 2);

  await kill.kill();
  await kill.waitForOperations(list);

  assert.equal(
    (await kill.rows(list)).map(({ error_message: text, name, runtime_state: state }) => `${name} ${state} ${text}`),
    ['make-1 RUNNING ', 'make-2 RUNNING ', 'stop-1 STOPPED ', 'stop-2 STOPPED '],
  );
  assert.equal(
    [...vendor.databases.values()].map(({ id, name }) => `${name} ${id}`).sort(),
    (await kill.rows(list)).map(({ backend_id: id, name }) => `${name} ${id}`),
  );
  assert.equal(
    [
      await server.countEvents('resource_creation_succeeded'),
      await server.countEvents('resource_stop_succeeded'),
      await server.countEvents('resource_deletion_succeeded'),
      await server.countEvents('resource_creation_failed'),
    ],
    [6, 2, 2, 0],
  );

  // Start the stopped databases and restart the others. Each takes two requests, both of which are interrupted.
  const operate = `POST ${byRequest}`;
  const databases = await kill.rows(list);
  kill.injectFaults([operate]);
  for (const { name, url } of databases) if (name.startsWith('stop')) await ask('POST', `${url}start/`);
  await kill.waitForCalls([operate], 2);
  await kill.kill();
  await kill.waitForOperations(list);
  kill.injectFaults([operate]);
  for (const { name, url } of databases) if (name.startsWith('make')) await ask('POST', `${url}restart/`);
  await kill.waitForCalls([operate], 2);
  kill.injectFaults([operate]);
  await kill.kill();
  await kill.waitForCalls([operate], 2);
  await kill.kill();
  await kill.waitForOperations(list);
  assert.equal(
    (await kill.rows(list)).map(({ error_message: text, name, runtime_state: state }) => `${name} ${state} ${text}`),
    ['make-1 RUNNING ', 'make-2 RUNNING ', 'stop-1 RUNNING ', 'stop-2 RUNNING '],
  );
  assert.equal(
    [await server.countEvents('resource_start_succeeded'), await server.countEvents('resource_restart_succeeded')],
    [2, 2],
  );
});

test.run();
