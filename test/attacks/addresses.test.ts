/** Which users see the IP address of an event's actor (events.md 4.4). */
import * as assert from 'uvu/assert';
import type { Json } from '../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas } from '../support/personas.ts';
import { Receiver } from '../support/receiver.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test, fixture } = suiteWithServer('client addresses in events', { hooks_allowed_networks: ['127.0.0.1'] });
let setup: Personas;
let receiver: Receiver;

test.before(async () => {
  setup = await createPersonas(fixture);
  receiver = await Receiver.start();
});
test.after(() => receiver.close());

/**
 * Returns the personas that read the latest event of a type, with the address they see. The rest of the event is the same for
 * all.
 */
async function addresses(type: string): Promise<Record<string, string | undefined>> {
  const read = await asEachPersona(setup, async (client) => {
    const { body } = await client.get(`/api/events/?event_type=${type}&page_size=1`);
    return body[0] as Json;
  });
  const whole = read.staff;
  const seen: Record<string, string | undefined> = {};
  for (const [part, event] of Object.entries(read)) {
    if (event?.uuid !== whole.uuid) continue;
    const { ip_address: address, ...others } = event;
    const { ip_address: _, ...expected } = whole;
    assert.equal(others, expected, part);
    seen[part] = address;
  }
  return seen;
}

test('hides the IP address of the actor from project members, shows it to owners and supporters of the customer', async () => {
  await fixture.staff.patch(setup.project.url, { description: 'by staff' });
  assert.equal(await addresses('project_update_succeeded'), {
    staff: '127.0.0.1',
    support: '127.0.0.1',
    owner: '127.0.0.1',
    helper: '127.0.0.1',
    manager: undefined,
    admin: undefined,
    observer: undefined,
  });
});

test('shows the actor their own address, and hides it from the affected user', async () => {
  const { observer, stranger } = setup.users;
  await setup.clients.stranger.patch(stranger.url, { agree_with_policy: true, job_title: 'Loner' });
  assert.equal(await addresses('user_update_succeeded'), {
    staff: '127.0.0.1',
    support: '127.0.0.1',
    stranger: '127.0.0.1',
  });
  await fixture.staff.patch(observer.url, { job_title: 'Watcher' });
  assert.equal(await addresses('user_update_succeeded'), {
    staff: '127.0.0.1',
    support: '127.0.0.1',
    observer: undefined,
  });
});

test('shows an event without an address to all of its readers alike', async () => {
  await fixture.staff.delete(
    (await fixture.staff.get(`/api/project-permissions/?user=${setup.users.observer.uuid}`)).body[0].url,
  );
  await fixture.grant(setup.project, setup.users.observer, 'support', '2018-01-05T04:48:04Z');
  await fixture.advance(61);
  assert.equal(Object.values(await addresses('role_revoked')).filter(Boolean), []);
});

test('sends the address to a hook only if the author of the hook may read it', async () => {
  for (const part of ['staff', 'owner', 'manager', 'stranger'] as const) {
    const { status } = await setup.clients[part].post('/api/hooks-web/', {
      destination_url: `${receiver.url}/${part}`,
      event_types: ['project_update_succeeded'],
    });
    assert.is(status, 201);
  }
  await fixture.staff.patch(setup.project.url, { description: 'sent to hooks' });
  await fixture.server.settled();
  const deliveries = receiver.take().map(({ body, path }) => [path, JSON.parse(body)] as const);
  const whole = deliveries.find(([path]) => path === '/staff')?.[1];
  const { ip_address: address, ...others } = whole.context;
  assert.is(address, '127.0.0.1');
  assert.equal(
    deliveries.sort(([a], [b]) => a.localeCompare(b)),
    [
      ['/manager', { ...whole, context: others }],
      ['/owner', whole],
      ['/staff', whole],
    ],
  );
});

test.run();
