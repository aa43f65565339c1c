/** jest: one server per file, and a snapshot for the tests that need more data. `NODE_OPTIONS=--experimental-vm-modules jest` */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer, settableClock } from 'tenantry';
import { Onboarding } from '../onboarding.mjs';

const seed = JSON.parse(readFileSync(new URL('../seed.json', import.meta.url), 'utf8'));
let server;
let onboarding;

beforeAll(async () => {
  const clock = settableClock('2026-01-05T09:00:00Z');
  server = await createServer({ ephemeral: true, port: 0, log_level: 'silent', clock, seed });
  onboarding = new Onboarding(server.url, server.token);
});
afterAll(() => server.close());

describe('onboarding', () => {
  beforeEach(() => server.reset());

  test('a customer gets a project and an invitation', async () => {
    await onboarding.takeIn({ company: 'Bolt', project: 'Rides', manager: 'eve@example.com' });
    expect((await server.events()).map((event) => event.event_type)).toEqual([
      'customer_creation_succeeded',
      'project_creation_succeeded',
    ]);
    expect(await server.mails()).toMatchObject([{ to: 'eve@example.com' }]);
  });

  test('a manager sees the project until the role ends', async () => {
    await server.advance('30d');
    expect(await (await server.as('bob')('/api/projects/')).json()).toEqual([]);
  });
});

describe('a machine that could not be stopped', () => {
  beforeAll(async () => {
    await server.reset();
    server.failNext('DigitalOcean.Droplet', 'stop', 'The host is away');
    await onboarding.stop(server.seeded('web').url);
    await server.advance('1m');
    await server.snapshot('not stopped');
  });
  beforeEach(() => server.restore('not stopped'));

  test('is a trouble', async () => {
    expect(await onboarding.troubles()).toEqual(['web: The host is away']);
  });

  test('is none any more when the provider was asked again', async () => {
    await server.as('admin')(`${server.seeded('web').url}pull/`, { method: 'POST' });
    await server.advance('1m');
    expect(await onboarding.troubles()).toEqual([]);
  });
});
