import * as assert from 'uvu/assert';
import { createDroplet, type Droplets } from '../../support/droplets.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { asEachPersona, type PersonaName, type Personas, sameExcept } from '../../support/personas.ts';
import { simulatedService, work } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('who sees and changes resources (services.md 8.7)');
let people: Personas;
let cloud: Droplets;
let droplet: Json;

test.before(async () => {
  ({ people, cloud, droplet } = await createDroplet(fixture));
});

const statuses = (
  ask: (client: Client, part: PersonaName) => Promise<{ status: number }>,
): Promise<Record<PersonaName, number>> =>
  asEachPersona(people, async (client, part) => (await ask(client, part)).status);
const seeing = sameExcept(200, { stranger: 404 });
const changing = (status: number) => ({
  staff: status,
  support: 403,
  owner: status,
  helper: 403,
  manager: status,
  admin: status,
  observer: 403,
  stranger: 404,
});

test('users who can see its project can see a resource; others get [] and 404', async () => {
  assert.equal(await statuses((client) => client.get(droplet.url)), seeing);
  assert.equal(await statuses((client) => client.options(droplet.url)), seeing);
  for (const path of ['/api/resources/', '/api/digitalocean-droplets/']) {
    const lengths = await asEachPersona(people, async (client) => (await client.get(path)).body.length);
    assert.equal(lengths, sameExcept(1, { stranger: 0 }));
  }
  const counts = await asEachPersona(
    people,
    async (client) => (await client.get('/api/resources/count/')).body['DigitalOcean.Droplet'],
  );
  assert.equal(counts, { staff: 1, support: 1, owner: 1, helper: 1, manager: 1, admin: 1, observer: 1, stranger: 0 });
});

test('staff, owners, managers and administrators create; support roles get 403, other users 400', async () => {
  const created: string[] = [];
  const responses = await statuses(async (client) => {
    const response = await client.post('/api/digitalocean-droplets/', cloud.body());
    if (response.status === 201) created.push(response.body.url);
    return response;
  });
  assert.equal(responses, {
    staff: 201,
    support: 403,
    owner: 201,
    helper: 403,
    manager: 201,
    admin: 201,
    observer: 403,
    stranger: 400,
  });
  for (const url of created) await fixture.staff.post(`${url}unlink/`);
});

test('checks fields before the right to create', async () => {
  assert.equal(
    await statuses((client) => client.post('/api/digitalocean-droplets/', cloud.body({ name: '_' }))),
    sameExcept(400),
  );
});

test('the same users update', async () => {
  assert.equal(await statuses((client) => client.put(droplet.url, { name: 'web' })), changing(200));
  assert.equal(await statuses((client) => client.patch(droplet.url, {})), changing(200));
});

test('the same users run actions and pull; checks the right before the body and the state', async () => {
  for (const [name, status] of [
    ['start', 409],
    ['resize', 400],
  ] as const) {
    assert.equal(await statuses((client) => client.post(`${droplet.url}${name}/`)), changing(status), name);
  }
  for (const [name, needed] of [
    ['stop', 'online'],
    ['start', 'offline'],
    ['restart', 'online'],
    ['pull', 'online'],
  ] as const) {
    const responses = await statuses(async (client) => {
      await work(fixture);
      if ((await fixture.staff.get(droplet.url)).body.runtime_state !== needed)
        await fixture.staff.post(`${droplet.url}${needed === 'online' ? 'start' : 'stop'}/`);
      await work(fixture);
      return client.post(`${droplet.url}${name}/`);
    });
    assert.equal(responses, changing(202), name);
    await work(fixture);
  }
});

test('the same users delete and unlink', async () => {
  for (const [method, tail, status] of [
    ['DELETE', '', 202],
    ['POST', 'unlink/', 204],
  ] as const) {
    assert.equal(
      await statuses(async (client) => {
        const { url } = await cloud.make();
        const response = await client.send(method, url + tail);
        if (response.status >= 400) await fixture.staff.post(`${url}unlink/`);
        await work(fixture);
        return response;
      }),
      // Only owners may unlink: an unlinked resource no longer counts but keeps running.
      tail === '' ? changing(status) : { ...changing(status), manager: 403, admin: 403 },
      method,
    );
  }
});

test('only staff delete a JIRA project; users who change resources also change it', async () => {
  const office = await simulatedService(fixture, 'jira', people, { name: 'Office' });
  const template = (await fixture.staff.get('/api/jira-project-templates/')).body[0].url;
  const project = (
    await fixture.staff.post('/api/jira-projects/', {
      service_project_link: office.link.url,
      name: 'Plan',
      key: 'PLAN',
      template,
    })
  ).body;
  await work(fixture);
  assert.equal(await statuses((client) => client.patch(project.url, { description: 'x' })), changing(200));
  const responses = await statuses(async (client, part) =>
    part === 'staff' ? { status: 202 } : client.delete(project.url),
  );
  assert.equal(responses, sameExcept(403, { staff: 202, stranger: 404 }));
  assert.is((await fixture.staff.delete(project.url)).status, 202);
});

test('every user can read service-metadata and properties; everything requires a token', async () => {
  for (const path of [
    '/api/service-metadata/',
    '/api/service-certifications/',
    '/api/digitalocean-images/',
    '/api/digitalocean-regions/',
    '/api/digitalocean-sizes/',
  ]) {
    assert.equal([...new Set(Object.values(await statuses((client) => client.get(path))))], [200], path);
    assert.is((await fixture.anonymous.get(path)).status, 401);
  }
  for (const path of [
    '/api/resources/',
    '/api/resources/count/',
    '/api/digitalocean-droplets/',
    droplet.url,
    '/api/services/',
    '/api/digitalocean/',
    '/api/service-settings/',
    '/api/resource-sla/',
    '/api/monitoring-items/',
  ]) {
    for (const method of ['GET', 'OPTIONS']) assert.is((await fixture.anonymous.send(method, path)).status, 401, path);
  }
});

test.run();
