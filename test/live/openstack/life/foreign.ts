import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { until } from '../../caller.ts';
import type { Account, Life } from './life.ts';
import { synchronise } from './settings.ts';

/* Changes by the cloud's client that bypass our server: objects that are imported, changed and deleted. */

const userOf = ({ tag }: Life) => ({ name: `user-${tag}`, password: 'foreign-password', project: `foreign-${tag}` });

/** A project without the administrator. Its own user creates a volume, a network and a server. */
async function makeProject(life: Life): Promise<void> {
  const { cloud } = life;
  const own = userOf(life);
  await cloud.client(`project create ${own.project} -f json`);
  await cloud.client(`user create ${own.name} --password ${own.password} -f json`);
  await cloud.client(`role add --project ${own.project} --user ${own.name} member`);
  await cloud.client('network create foreign-net -f json', own);
  await cloud.client('subnet create foreign-sub --network foreign-net --subnet-range 10.20.0.0/24 -f json', own);
  await cloud.client('volume create foreign-system --size 1 --image cirros -f json', own);
  await cloud.client('volume create foreign-data --size 2 -f json', own);
  await until('volumes', async () => {
    const volumes: Json[] = await cloud.client('volume list -f json', own);
    return volumes.every(({ Status }) => Status === 'available') || undefined;
  });
  const server = 'server create foreign-server --volume foreign-system --flavor m1.small --network foreign-net';
  await cloud.client(`${server} --wait -f json`, own);
}

/** Imports an object found by a synchronisation. */
async function importOf({ staff }: Life, { link }: Account, type: string, name: string): Promise<Json> {
  const service = await staff.get(link.service);
  const items: Json[] = await staff.get(`${service.url}link/`);
  const item = items.find((one) => one.resource_type === `OpenStack.${type}` && one.name === name);
  assert.ok(item, `${type} ${name} can be imported`);
  const { backend_id, resource_type } = item;
  return staff.ask(200, 'POST', `${service.url}link/`, { backend_id, resource_type, project: link.project });
}

/** Unlinked objects stay at the cloud, and an import restores them. */
export async function restoreByImport(life: Life, account: Account, instance: Json): Promise<void> {
  const { cloud, staff, steps } = life;
  await steps.step('unlink of an instance and a volume, and import of both', async () => {
    const { name, volumes } = await staff.get(instance.url);
    const data = volumes.find(({ bootable }: Json) => !bootable);
    for (const { url } of [data, instance]) {
      await staff.ask(204, 'POST', `${url}unlink/`);
      assert.is((await staff.send('GET', url)).status, 404);
    }
    assert.is((await cloud.client(`server show ${instance.backend_id} -f json`)).name, name);
    await synchronise(life, account);
    await importOf(life, account, 'Instance', name);
    await importOf(life, account, 'Volume', data.name);
    await synchronise(life, account);
    const back = await staff.only(`/api/openstack-instances/?name_exact=${name}`);
    assert.equal([back.backend_id, back.volumes.length], [instance.backend_id, volumes.length]);
  });
}

/** Imports foreign objects and manages them. */
export async function importForeign(life: Life, account: Account): Promise<Json> {
  const { staff, steps } = life;
  await steps.step('without our server: project, network, volumes, server', () => makeProject(life));
  await steps.step('synchronisation', () => synchronise(life, account));
  const importObject = (type: string, name: string): Promise<Json> => importOf(life, account, type, name);
  const tenant = await steps.step('import of a tenant, with its parts', async () => {
    const imported = await importObject('Tenant', userOf(life).project);
    const network = await staff.only(`/api/openstack-networks/?tenant_uuid=${imported.uuid}`);
    assert.equal([network.name, network.subnets[0].cidr], ['foreign-net', '10.20.0.0/24']);
    return imported;
  });
  await steps.step('import of a server and its volumes', async () => {
    const instance = await importObject('Instance', 'foreign-server');
    await importObject('Volume', 'foreign-system');
    await importObject('Volume', 'foreign-data');
    await synchronise(life, account);
    const { cores, disk, flavor_name: flavor, internal_ips: ips, ram, volumes } = await staff.get(instance.url);
    assert.equal([cores, ram, disk, flavor], [1, 2048, 1024, 'm1.small']);
    assert.match(ips[0], /^10\.20\.0\./);
    assert.equal(
      volumes.map(({ name }: Json) => name),
      ['foreign-system'],
    );
  });
  await steps.step(
    'imported objects are managed: stop, attach, delete, in a project without the administrator',
    async () => {
      const instance = await staff.only('/api/openstack-instances/?name_exact=foreign-server');
      await staff.act(instance, 'stop');
      const data = await staff.only('/api/openstack-volumes/?name_exact=foreign-data');
      await staff.act(data, 'attach', { instance: instance.url });
      await staff.remove(instance);
      assert.equal(await staff.get(`/api/openstack-volumes/?tenant_uuid=${tenant.uuid}`), []);
    },
  );
  return tenant;
}

export async function removeForeign(life: Life, tenant: Json): Promise<void> {
  const { cloud, staff, steps } = life;
  await steps.step('without our server: server, volumes, snapshot, router, floating IP', async () => {
    const own = userOf(life);
    await cloud.client('volume create own-system --size 1 --image cirros -f json', own);
    await cloud.client('volume create own-data --size 1 -f json', own);
    await until('volumes', async () => {
      const volumes: Json[] = await cloud.client('volume list -f json', own);
      return volumes.every(({ Status }) => Status === 'available') || undefined;
    });
    await cloud.client('volume snapshot create own-snapshot --volume own-data -f json', own);
    await cloud.client('router create own-router -f json', own);
    await cloud.client('router set own-router --external-gateway public', own);
    await cloud.client('router add subnet own-router foreign-sub', own);
    const server = 'server create own-server --volume own-system --flavor m1.tiny --network foreign-net';
    await cloud.client(`${server} --wait -f json`, own);
    const port = await cloud.client('port list --server own-server -f json', own);
    await cloud.client(`floating ip create public --port ${port[0].ID} -f json`, own);
  });
  await steps.step('delete of the imported tenant with all of its objects, but not its user', async () => {
    await staff.remove(tenant);
    await cloud.client(`user delete ${userOf(life).name}`);
  });
}

/** Synchronises changes and deletions at the cloud. */
export async function pullChanges(life: Life, account: Account, tenant: Json): Promise<void> {
  const { cloud, staff, steps } = life;
  const volume = await staff.make('/api/openstack-volumes/', {
    service_project_link: account.link.url,
    tenant: tenant.url,
    name: 'watched',
    size: 1024,
  });
  const address = await staff.make(`${tenant.url}create_floating_ip/`);
  const of = `tenant_uuid=${tenant.uuid}`;
  const web = await staff.only(`/api/openstack-security-groups/?${of}&name_exact=web`);
  await steps.step('pull of objects changed without our server', async () => {
    await cloud.client(`volume set ${volume.backend_id} --name renamed --size 2`);
    await cloud.client(`project set ${tenant.backend_id} --description elsewhere`);
    await cloud.client(`security group rule create ${web.backend_id} --protocol udp --dst-port 53 -f json`);
    await cloud.client(`network create other --project ${tenant.backend_id} -f json`);
    await cloud.client(`quota set --volumes 33 ${tenant.backend_id}`);
    await until('extension', async () => {
      const { status } = await cloud.client(`volume show ${volume.backend_id} -f json`);
      return status === 'available' || undefined;
    });
    await synchronise(life, account);
    const { name, size } = await staff.get(volume.url);
    assert.equal([name, size], ['renamed', 2048]);
    const { description, quotas } = await staff.get(tenant.url);
    assert.is(description, 'elsewhere');
    assert.is(quotas.find((quota: Json) => quota.name === 'volumes').limit, 33);
    const { rules } = await staff.get(web.url);
    assert.ok(rules.some((rule: Json) => rule.protocol === 'udp' && rule.from_port === 53));
    assert.is((await staff.only(`/api/openstack-networks/?${of}&name_exact=other`)).state, 'OK');
  });
  await steps.step('pull of objects deleted without our server, by synchronisation and one by one', async () => {
    const other = await staff.only(`/api/openstack-networks/?${of}&name_exact=other`);
    await cloud.client(`volume delete ${volume.backend_id}`);
    await cloud.client(`floating ip delete ${address.backend_id}`);
    await cloud.client(`network delete ${other.backend_id}`);
    await staff.post(`${address.url}pull/`, undefined, 202);
    const erred = (object: Json): Promise<Json> =>
      until(object.url, async () => {
        const matches = await staff.get(object.url);
        return matches.state === 'Erred' ? matches : undefined;
      });
    assert.is((await erred(address)).error_message, 'Does not exist at backend.');
    await synchronise(life, account);
    for (const gone of [volume, other]) {
      assert.is((await erred(gone)).error_message, 'Does not exist at backend.');
      await staff.remove(gone);
    }
    await staff.remove(address);
  });
}
