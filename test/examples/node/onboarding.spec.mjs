/** node:test: a server per test, so that all of them run concurrently. `node --test` */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createServer, settableClock } from 'tenantry';
import { Onboarding } from '../onboarding.mjs';

const seed = JSON.parse(readFileSync(new URL('../seed.json', import.meta.url), 'utf8'));

/** A separate server for a test, and the application that uses it. */
async function start(context) {
  const clock = settableClock('2026-01-05T09:00:00Z');
  const server = await createServer({ ephemeral: true, port: 0, log_level: 'silent', clock, seed });
  context.after(() => server.close());
  return { server, onboarding: new Onboarding(server.url, server.token) };
}

describe('onboarding', { concurrency: true }, () => {
  test('a customer gets a project and an invitation', async (context) => {
    const { onboarding, server } = await start(context);
    const { project } = await onboarding.takeIn({ company: 'Bolt', project: 'Rides', manager: 'eve@example.com' });
    assert.equal((await server.as('admin')(project.url)).status, 200);
    assert.deepEqual(
      (await server.events()).map((event) => event.event_type),
      ['customer_creation_succeeded', 'project_creation_succeeded'],
    );
    const [mail] = await server.mails();
    assert.equal(mail.to, 'eve@example.com');
    assert.match(mail.text, /https:\/\/app\.example\.com\/welcome\/[0-9a-f]{32}\//);
  });

  test('a machine that cannot be stopped is a trouble', async (context) => {
    const { onboarding, server } = await start(context);
    assert.deepEqual(await onboarding.troubles(), []);
    server.failNext('DigitalOcean.Droplet', 'stop', 'The host is away');
    await onboarding.stop(server.seeded('web').url);
    await server.advance('1m');
    assert.deepEqual(await onboarding.troubles(), ['web: The host is away']);
  });

  test('a manager sees the project until the role ends', async (context) => {
    const { server } = await start(context);
    const projects = async () => (await server.as('bob')('/api/projects/')).json();
    assert.deepEqual(
      (await projects()).map(({ name }) => name),
      ['Shop'],
    );
    await server.advance('30d');
    assert.deepEqual(await projects(), []);
  });

  test('dozens of servers do not disturb each other', async (context) => {
    const all = await Promise.all(Array.from({ length: 24 }, () => start(context)));
    await Promise.all(
      all.map(({ onboarding }, i) =>
        onboarding.takeIn({ company: `Company ${i}`, project: 'P', manager: 'eve@example.com' }),
      ),
    );
    for (const [i, { server }] of all.entries()) {
      const customers = await (await server.as('admin')('/api/customers/?o=name')).json();
      assert.deepEqual(
        customers.map(({ name }) => name),
        ['Acme', `Company ${i}`],
      );
    }
  });
});
