/** Usages reported by a provider do not hide accepted operations that have not finished (events.md 2.2). */
import * as assert from 'uvu/assert';
import { examine } from '../../../../src/app/doctor/doctor.ts';
import type { Json } from '../../../support/fixture.ts';
import { setOptions, step, work } from '../../../support/simulated.ts';
import { suiteWithServerPerTest } from '../../../support/suite.ts';
import { type Cloud, flavor, instance, instanceBody, post, present, startCloud } from './cloud.ts';

const { test, fixture } = suiteWithServerPerTest('usage of a tenant while operations are under way', {
  settings_sync_interval: 60_000_000,
});
let cloud: Cloud;

test.before.each(async () => {
  cloud = await startCloud(fixture);
});
test.after.each(() => {
  assert.equal(examine(fixture.server.app, false).problems, []);
});

/** Returns the tenant's non-zero usages, by name. */
const used = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await present(cloud, cloud.tenant)).quotas
      .filter(({ name }: Json) => ['instances', 'vcpu', 'ram', 'volumes', 'storage'].includes(name))
      .map(({ name, usage }: Json) => [name, usage]),
  );
const limit = async (limits: Readonly<Record<string, number>>): Promise<void> => {
  assert.is((await fixture.staff.post(`${cloud.tenant.url}set_quotas/`, limits)).status, 202);
  await work(fixture);
};

/** The ways in which the service reads a tenant's usage from the provider. */
const hearings: Readonly<Record<string, () => Promise<void>>> = {
  'a pull': async () => {
    assert.is((await post(cloud, `${cloud.tenant.url}pull/`))[0], 202);
    await work(fixture);
  },
  'a synchronisation': async () => {
    fixture.clock.advance(60);
    await work(fixture);
  },
};

const ofOne = { instances: 1, vcpu: 1, ram: 2048, volumes: 1, storage: 10_240 };
const ofNone = { instances: 0, vcpu: 0, ram: 0, volumes: 0, storage: 0 };

for (const [name, hear] of Object.entries(hearings)) {
  test(`${name} during a creation still reserves its quotas against a second one`, async () => {
    await limit({ instances: 1 });
    await setOptions(fixture, cloud.settings, { simulator_latency: 'create=600000,*=0' });
    const [status, body] = await post(cloud, '/api/openstack-instances/', await instanceBody(cloud));
    assert.is(status, 201, JSON.stringify(body));
    await step(fixture);
    assert.is((await present(cloud, body)).state, 'Creating');
    await hear();
    assert.is((await present(cloud, body)).state, 'Creating', 'it is still under way');
    assert.equal(await used(), ofOne);
    const [rejection, { detail }] = await post(
      cloud,
      '/api/openstack-instances/',
      await instanceBody(cloud, { name: 'second' }),
    );
    assert.equal(
      [rejection, detail],
      [409, 'One or more quotas were exceeded: instances quota limit: 1.0, requires 2.0 (Lab)'],
    );
    fixture.clock.advance(10 * 60);
    await work(fixture);
    assert.is((await present(cloud, body)).state, 'OK');
    assert.equal(await used(), ofOne, 'and nothing is counted twice when it ends');
    await hearings['a pull']?.();
    assert.equal(await used(), ofOne);
  });
}

test('a pull during a change of flavor still reserves its quotas against another change', async () => {
  const [one, two] = [await instance(cloud), await instance(cloud, { name: 'second' })];
  await limit({ vcpu: 3 });
  for (const machine of [one, two]) await post(cloud, `${machine.url}stop/`);
  await work(fixture);
  await setOptions(fixture, cloud.settings, { simulator_latency: 'change_flavor=60000,*=0' });
  const larger = { flavor: (await flavor(cloud, 'm1.medium')).url };
  assert.is((await post(cloud, `${one.url}change_flavor/`, larger))[0], 202);
  await step(fixture);
  await hearings['a pull']?.();
  assert.is((await used()).vcpu, 3);
  const [status, { detail }] = await post(cloud, `${two.url}change_flavor/`, larger);
  assert.equal([status, detail], [409, 'One or more quotas were exceeded: vcpu quota limit: 3.0, requires 4.0 (Lab)']);
  for (let i = 0; i < 3; i++) {
    fixture.clock.advance(60);
    await work(fixture);
  }
  assert.is((await present(cloud, one)).state, 'OK');
  assert.is((await used()).vcpu, 3);
});

test('excludes failed resources from the usages of the next pull', async () => {
  await setOptions(fixture, cloud.settings, { simulator_failures: 'Instance.create' });
  await post(cloud, '/api/openstack-instances/', await instanceBody(cloud));
  await work(fixture);
  await hearings['a pull']?.();
  assert.equal(await used(), ofNone);
});

test.run();
