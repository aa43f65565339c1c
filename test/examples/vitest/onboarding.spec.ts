/** vitest: one server per file, reset before each test. `vitest run` */
import { readFileSync } from 'node:fs';
import { createServer, type Server, settableClock } from 'tenantry';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Onboarding } from '../onboarding.mjs';

const seed = JSON.parse(readFileSync(new URL('../seed.json', import.meta.url), 'utf8'));
let server: Server;
let onboarding: Onboarding;

beforeAll(async () => {
  const clock = settableClock('2026-01-05T09:00:00Z');
  server = await createServer({ ephemeral: true, port: 0, log_level: 'silent', clock, seed });
  onboarding = new Onboarding(server.url, server.token);
});
beforeEach(() => server.reset());
afterAll(() => server.close());

describe('onboarding', () => {
  test('a customer gets a project and an invitation', async () => {
    const { project } = await onboarding.takeIn({ company: 'Bolt', project: 'Rides', manager: 'eve@example.com' });
    const manager = server.as('bob');
    expect((await manager(project.url)).status).toBe(404);
    expect((await server.events()).map((event) => event.event_type)).toEqual([
      'customer_creation_succeeded',
      'project_creation_succeeded',
    ]);
    expect(await server.mails()).toMatchObject([{ to: 'eve@example.com' }]);
  });

  test('nothing is left of the test before', async () => {
    expect([await server.events(), await server.mails()]).toEqual([[], []]);
    const customers = await (await server.as('admin')('/api/customers/')).json();
    expect(customers).toMatchObject([{ name: 'Acme' }]);
  });

  test('a machine that cannot be stopped is a trouble', async () => {
    server.failNext('DigitalOcean.Droplet', 'stop', 'The host is away');
    await onboarding.stop(server.seeded('web').url);
    await server.advance('1m');
    expect(await onboarding.troubles()).toEqual(['web: The host is away']);
  });

  test('a manager sees the project until the role ends', async () => {
    await server.advance('30d');
    expect(await (await server.as('bob')('/api/projects/')).json()).toEqual([]);
  });
});
