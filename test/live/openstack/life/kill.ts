import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { until } from '../../caller.ts';
import type { Account, Life } from './life.ts';

/**
 * A second account with other options, whose operations are interrupted by kill -9: they continue, and no object is created
 * twice.
 */
export async function killDuringOperations(life: Life, { link: { project } }: Account): Promise<void> {
  const { cloud, kill, staff, steps, tag } = life;
  const { facts } = cloud;
  const { customer } = await staff.get(project);
  const service = await steps.step('a second account, with other options', async () => {
    const created = await staff.post('/api/openstack/', {
      name: 'With options',
      customer,
      project,
      backend_url: facts.auth_url,
      username: facts.username,
      password: facts.password,
      domain: facts.domain,
      tenant_name: facts.project,
      external_network_id: facts.external_network_id,
      availability_zone: 'nova',
      flavor_exclude_regex: 'large$',
      create_ha_routers: true,
    });
    await until('synchronisation', async () => (await staff.get(created.settings)).state === 'In Sync' || undefined);
    const flavors = await staff.get(`/api/openstack-flavors/?settings_uuid=${created.settings_uuid}&o=ram`);
    assert.equal(
      flavors.map(({ name }: Json) => name),
      ['m1.tiny', 'm1.small', 'm1.medium'],
    );
    return created;
  });
  const of = `settings_uuid=${service.settings_uuid}`;
  const link = await staff.only(`/api/openstack-service-project-link/?service_uuid=${service.uuid}`);
  /** Kills Tenantry when the object exists in the cloud while its operation is still running. */
  const killWhen = async ({ url }: Json, isMet: (object: Json) => boolean): Promise<void> => {
    await until(url, async () => isMet(await staff.get(url)) || undefined);
    await kill();
    assert.is.not((await staff.get(url)).state, 'OK');
  };
  const tenant = await steps.step('kill -9 while a tenant is created, with a highly available router', async () => {
    const ordered = await staff.post('/api/openstack-tenants/', {
      service_project_link: link.url,
      name: `Killed ${tag}`,
      subnet_cidr: '192.168.60.0/24',
    });
    await killWhen(ordered, ({ backend_id: id }) => id !== '');
    const created = await staff.settled(ordered);
    const [router, ...others] = await cloud.client(`router list --project ${created.backend_id} --long -f json`);
    assert.equal([router.HA, others], [true, []]);
    const groups = await staff.get(`/api/openstack-security-groups/?tenant_uuid=${created.uuid}`);
    assert.is(groups.length, 6);
    return created;
  });
  const instance = await steps.step(
    'kill -9 while an instance is created: at its volumes, and at its server',
    async () => {
      const subnet = (await staff.only(`/api/openstack-subnets/?tenant_uuid=${tenant.uuid}`)).url;
      const ordered = await staff.post('/api/openstack-instances/', {
        service_project_link: link.url,
        tenant: tenant.url,
        name: 'killed',
        flavor: (await staff.only(`/api/openstack-flavors/?name_exact=m1.tiny&${of}`)).url,
        image: (await staff.only(`/api/openstack-images/?${of}`)).url,
        system_volume_size: 1024,
        data_volume_size: 1024,
        floating_ips: [{ subnet }],
        internal_ips_set: [{ subnet }],
      });
      await killWhen(ordered, ({ volumes }) => volumes.some(({ state }: Json) => state === 'Creating'));
      await killWhen(ordered, ({ backend_id: id }) => id !== '');
      const created = await staff.settled(ordered);
      const own = `--project ${tenant.backend_id} -f json`;
      const counts = await Promise.all(
        [`server list ${own}`, `volume list ${own}`, `floating ip list ${own}`].map(
          async (list) => (await cloud.client(list)).length,
        ),
      );
      assert.equal(counts, [1, 2, 1]);
      return created;
    },
  );
  await steps.step('kill -9 while an instance is deleted, and a tenant', async () => {
    await staff.act(instance, 'stop');
    for (const object of [instance, tenant]) {
      await staff.ask(202, 'DELETE', object.url);
      await until(object.url, async () => (await staff.get(object.url)).state === 'Deleting' || undefined);
      await kill();
      await until(object.url, async () => {
        const { body, status } = await staff.send('GET', object.url);
        if (body?.state === 'Erred') throw new Error(body.error_message);
        return status === 404 || undefined;
      });
    }
  });
  await steps.step('deletion of the second account', () => staff.ask(204, 'DELETE', service.url));
}
