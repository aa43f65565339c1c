import * as assert from 'uvu/assert';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { simulatedService, work } from '../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('deleting what has resources (services.md 8.5)');
let customer: Json;
let project: Json;
let cloud: Droplets;

test.before.each(async () => {
  customer = await fixture.customer('Alice');
  project = await fixture.project('Rocket', customer);
  cloud = await dropletService(fixture, { customer, project });
});

const remove = async ({ url }: Json): Promise<unknown[]> => {
  const { body, status } = await fixture.staff.delete(url);
  return [status, body];
};

test('rejects deleting a project, link, service or settings with resources in any state', async () => {
  const droplet = await cloud.begin();
  const parents: [Json, string][] = [
    [project, 'project'],
    [cloud.link, 'service project link'],
    [cloud.service, 'service'],
    [cloud.settings, 'service settings'],
  ];
  for (const prepare of [
    async (): Promise<void> => undefined,
    (): Promise<void> => work(fixture),
    async (): Promise<void> => void (await fixture.staff.delete(droplet.url)),
  ]) {
    await prepare();
    for (const [parent, name] of parents)
      assert.equal(await remove(parent), [409, { detail: `Cannot delete ${name} with existing droplets` }]);
  }
  await work(fixture);
  for (const [parent] of parents.slice(1)) {
    assert.is((await fixture.staff.get(parent.url)).status, 200);
  }
  assert.equal(await remove(cloud.link), [204, undefined]);
  assert.equal(await remove(cloud.service), [204, undefined]);
  assert.equal(await remove(project), [204, undefined]);
});

test('with several kinds, the message names the first by name', async () => {
  await cloud.begin();
  const office = await simulatedService(fixture, 'jira', { customer, project }, { name: 'Office' });
  const template = (await fixture.staff.get('/api/jira-project-templates/')).body[0].url;
  await fixture.staff.post('/api/jira-projects/', {
    service_project_link: office.link.url,
    name: 'Plan',
    key: 'PLAN',
    template,
  });
  assert.equal(await remove(project), [409, { detail: 'Cannot delete project with existing droplets' }]);
  assert.equal(await remove(office.service), [409, { detail: 'Cannot delete service with existing jira projects' }]);
});

test('deleting a project deletes its links without resources', async () => {
  assert.equal(await remove(project), [204, undefined]);
  assert.is((await fixture.staff.get(cloud.link.url)).status, 404);
  assert.is((await fixture.staff.get(cloud.service.url)).status, 200);
});

test('rejects deleting a customer with projects; otherwise deletes its services, too', async () => {
  assert.equal(await remove(customer), [409, { detail: 'Cannot delete organization with existing projects' }]);
  await remove(project);
  assert.equal(await remove(customer), [204, undefined]);
  for (const { url } of [cloud.service, cloud.settings]) assert.is((await fixture.staff.get(url)).status, 404);
});

test.run();
