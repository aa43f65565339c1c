/**
 * Unlinking frees quotas although the object still runs at the provider, so the rights to unlink are limited (services.md 8.2,
 * 8.5, 8.7).
 */
import * as assert from 'uvu/assert';
import { type Cloud, startCloud, volume } from '../cloud/providers/openstack/cloud.ts';
import type { Json } from '../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas, personaNames } from '../support/personas.ts';
import { usages, work } from '../support/simulated.ts';
import { suiteWithServerPerTest } from '../support/suite.ts';

const { test: unlinking, fixture } = suiteWithServerPerTest('unlinking resources');
const forbidden = { detail: 'You do not have permission to perform this action.' };

/** Shared DigitalOcean settings, linked to every project; returns a function that orders droplets there. */
async function sharedDroplets(): Promise<(by: string, name: string) => Promise<{ status: number; body: Json }>> {
  await fixture.staff.post('/api/service-settings/', {
    name: 'Public',
    type: 'DigitalOcean',
    shared: true,
    simulator_latency: '0',
  });
  await work(fixture);
  const [link] = (await fixture.staff.get('/api/digitalocean-service-project-link/')).body;
  const first = async (path: string): Promise<string> => (await fixture.staff.get(`/api/${path}`)).body[0].url;
  const region = await first('digitalocean-regions/?name=Amsterdam');
  const image = await first('digitalocean-images/?distribution=Debian');
  const size = await first('digitalocean-sizes/');
  return (by, name) =>
    fixture.as(by).post('/api/digitalocean-droplets/', { service_project_link: link.url, name, region, image, size });
}

unlinking('lets only staff unlink objects of shared settings, not managers or owners, as it frees quotas', async () => {
  const people: Personas = await createPersonas(fixture);
  const order = await sharedDroplets();
  const quotas = (await fixture.staff.get(people.project.url)).body.quotas;
  const { url } = quotas.find(({ name }: Json) => name === 'nc_vm_count');
  assert.is((await fixture.staff.patch(url, { limit: 1 })).status, 200);
  const created = await order('manager', 'one');
  assert.is(created.status, 201, JSON.stringify(created.body));
  await work(fixture);
  const responses = await asEachPersona(people, async (client, part) => {
    if (part === 'staff') return [204, undefined];
    const { body, status } = await client.post(`${created.body.url}unlink/`);
    return [status, body];
  });
  for (const part of personaNames) {
    const expected = { staff: [204, undefined], stranger: [404, { detail: 'Not found.' }] }[part as 'staff'];
    assert.equal(responses[part], expected ?? [403, forbidden], part);
  }
  assert.is((await order('manager', 'two')).status, 409, 'the quota is still in use');
  const { actions } = (await people.clients.manager.options(created.body.url)).body;
  assert.equal([actions.unlink.enabled, actions.unlink.reason], [false, forbidden.detail]);
  assert.is((await fixture.staff.post(`${created.body.url}unlink/`)).status, 204);
  assert.is((await usages(fixture, people.project)).nc_vm_count, undefined);
});

unlinking('lets staff and owners unlink objects of private settings, not managers and administrators', async () => {
  const cloud: Cloud = await startCloud(fixture);
  const responses = await asEachPersona(cloud.people, async (client) => {
    const { url } = await volume(cloud);
    return (await client.post(`${url}unlink/`)).status;
  });
  assert.equal(responses, {
    staff: 204,
    support: 403,
    owner: 204,
    helper: 403,
    manager: 403,
    admin: 403,
    observer: 403,
    stranger: 404,
  });
});

unlinking('does not unlink a tenant in any state while its contents prevent deletion', async () => {
  const cloud: Cloud = await startCloud(fixture);
  const { owner } = cloud.people.clients;
  const disk = await volume(cloud);
  const rejection = { detail: 'Cannot delete tenant with existing volumes' };
  for (const client of [owner, fixture.staff]) {
    const { body, status } = await client.post(`${cloud.tenant.url}unlink/`);
    assert.equal([status, body], [409, rejection]);
  }
  await owner.post(`${cloud.tenant.url}pull/`);
  assert.equal((await owner.post(`${cloud.tenant.url}unlink/`)).body, rejection, 'while a pull runs');
  await work(fixture);
  assert.is((await owner.post(`${disk.url}unlink/`)).status, 204);
  await owner.post(`${cloud.tenant.url}pull/`);
  assert.is((await owner.post(`${cloud.tenant.url}unlink/`)).status, 204, 'in any state');
  assert.is((await owner.get(cloud.tenant.url)).status, 404);
});

unlinking.run();
