import * as assert from 'uvu/assert';
import { examine } from '../../../src/app/doctor/doctor.ts';
import { type Droplets, dropletService } from '../../support/droplets.ts';
import type { Json } from '../../support/fixture.ts';
import { setOptions, simulatedService, usages, work } from '../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('quotas that resources count for (services.md 7.5)');
let place: { readonly customer: Json; readonly project: Json };
let cloud: Droplets;

test.before.each(async () => {
  const customer = await fixture.customer('Alice');
  place = { customer, project: await fixture.project('Rocket', customer) };
  cloud = await dropletService(fixture, place);
});
test.after.each(() => {
  assert.equal(examine(fixture.server.app, false).problems, [], 'everything is counted as it is');
});

/** The usages to which a droplet counts, by scope. */
async function counted(): Promise<Json> {
  const [project, customer, link, service] = await Promise.all(
    [place.project, place.customer, cloud.link, cloud.service].map((object) => usages(fixture, object)),
  );
  const { nc_resource_count: inProject, nc_vm_count: machines, nc_app_count: apps } = project as Json;
  assert.equal(
    [customer?.nc_resource_count, customer?.nc_vm_count, customer?.nc_app_count],
    [inProject, machines, apps],
    'the customer counts what its project does',
  );
  return {
    project: [inProject, machines, apps].map((n) => n ?? 0),
    link: [link?.vcpu, link?.ram, link?.storage].map((n) => n ?? 0),
    service: service?.droplet_count ?? 0,
  };
}

const none = { project: [0, 0, 0], link: [0, 0, 0], service: 0 };
const one = { project: [1, 1, 0], link: [1, 1024, 25600], service: 1 };
const limit = async (object: Json, name: string, value: number): Promise<void> => {
  const quota = (await fixture.staff.get(object.url)).body.quotas.find((each: Json) => each.name === name);
  assert.is((await fixture.staff.patch(quota.url, { limit: value })).status, 200);
};

test('a droplet counts from POST until its row is removed', async () => {
  const droplet = await cloud.begin();
  assert.equal(await counted(), one, 'already in Creation Scheduled');
  await work(fixture);
  assert.equal(await counted(), one);
  await fixture.staff.delete(droplet.url);
  assert.equal(await counted(), one, 'in Deletion Scheduled still');
  await work(fixture);
  assert.equal(await counted(), none);
});

test('an Erred droplet counts until it is unlinked', async () => {
  await setOptions(fixture, cloud.settings, { simulator_failures: 'create' });
  const droplet = await cloud.make();
  assert.equal([droplet.state, await counted()], ['Erred', one]);
  await fixture.staff.post(`${droplet.url}unlink/`);
  assert.equal(await counted(), none);
});

test('a JIRA project counts as an app of project and customer', async () => {
  const office = await simulatedService(fixture, 'jira', place, { name: 'Office' });
  const template = (await fixture.staff.get('/api/jira-project-templates/')).body[0].url;
  await fixture.staff.post('/api/jira-projects/', {
    service_project_link: office.link.url,
    name: 'Plan',
    key: 'PLAN',
    template,
  });
  assert.equal(await counted(), { ...none, project: [1, 0, 1] });
});

test('rejects a creation and names every exceeded quota in order, and writes nothing', async () => {
  for (const [object, name, value] of [
    [place.customer, 'nc_vm_count', 0],
    [place.project, 'nc_resource_count', 0],
    [cloud.link, 'ram', 1023],
    [cloud.service, 'droplet_count', 0],
  ] as const)
    await limit(object, name, value);
  fixture.events();
  const { body, status } = await fixture.staff.post('/api/digitalocean-droplets/', cloud.body());
  assert.equal(
    [status, body],
    [
      409,
      {
        detail:
          'One or more quotas were exceeded: droplet_count quota limit: 0.0, requires 1.0 (Cloud); nc_resource_count quota limit: 0.0, requires 1.0 (Rocket);' +
          ' nc_vm_count quota limit: 0.0, requires 1.0 (Alice); ram quota limit: 1023.0, requires 1024.0 (Cloud | Rocket)',
      },
    ],
  );
  assert.equal([await counted(), fixture.events(), (await fixture.staff.get('/api/resources/')).body], [none, [], []]);
});

test('a DigitalOcean service allows fifty droplets unless its quota is changed', async () => {
  const quota = cloud.service.quotas[0];
  assert.equal([quota.name, quota.limit], ['droplet_count', 50]);
});

test('counts a resize when it is accepted, and reverts this when it fails', async () => {
  const droplet = await cloud.make();
  await fixture.staff.post(`${droplet.url}stop/`);
  await work(fixture);
  const resize = (disk: boolean): Promise<Json> =>
    fixture.staff.post(`${droplet.url}resize/`, { size: cloud.catalogue.large, disk });
  await limit(cloud.link, 'vcpu', 1);
  const rejection = await resize(true);
  assert.equal(
    [rejection.status, rejection.body],
    [409, { detail: 'One or more quotas were exceeded: vcpu quota limit: 1.0, requires 2.0 (Cloud | Rocket)' }],
  );
  await limit(cloud.link, 'vcpu', -1);
  await setOptions(fixture, cloud.settings, { simulator_failures: 'resize' });
  assert.is((await resize(true)).status, 202);
  assert.equal(await counted(), { ...one, link: [2, 4096, 81920] });
  await work(fixture);
  assert.equal([(await fixture.staff.get(droplet.url)).body.state, await counted()], ['Erred', one]);
  await setOptions(fixture, cloud.settings, { simulator_failures: null });
  await fixture.staff.post(`${droplet.url}pull/`);
  await work(fixture);
  assert.is((await resize(false)).status, 202);
  await work(fixture);
  assert.equal(await counted(), { ...one, link: [2, 4096, 25600] }, 'the disk only with disk true');
});

test('unlinking during a resize reverts its quota changes', async () => {
  const droplet = await cloud.make();
  await fixture.staff.post(`${droplet.url}stop/`);
  await work(fixture);
  assert.is(
    (await fixture.staff.post(`${droplet.url}resize/`, { size: cloud.catalogue.large, disk: true })).status,
    202,
  );
  await fixture.staff.post(`${droplet.url}unlink/`);
  assert.equal(await counted(), none);
});

test('counts changes found by a background pull, and never rejects them', async () => {
  const droplet = await cloud.make();
  await limit(cloud.link, 'vcpu', 1);
  const { db } = fixture.server.app;
  db.script(
    `UPDATE simulated_object SET "values" = json_set("values", '$.cores', 4) WHERE backend_id = '${droplet.backend_id}'`,
  );
  fixture.clock.advance(30 * 60);
  await work(fixture);
  assert.equal([(await fixture.staff.get(droplet.url)).body.cores, (await counted()).link], [4, [4, 1024, 25600]]);
});

test('simultaneous creations never exceed a limit', async () => {
  await limit(place.customer, 'nc_vm_count', 3);
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      fixture.staff.post('/api/digitalocean-droplets/', cloud.body({ name: `web-${n}` })),
    ),
  );
  assert.equal(responses.map(({ status }) => status).sort(), [...Array(3).fill(201), ...Array(9).fill(409)]);
});

test.run();
