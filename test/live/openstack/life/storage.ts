import * as assert from 'uvu/assert';
import type { Json } from '../../../support/fixture.ts';
import { until } from '../../caller.ts';
import type { Account, Life } from './life.ts';

const dated = 'retained for a minute';

/** Volumes and snapshots without an instance; returns a volume of 2 GiB. */
export async function makeVolume({ cloud, staff, steps }: Life, { link }: Account, tenant: Json): Promise<Json> {
  const volume = await steps.step('volume create', () =>
    staff.make('/api/openstack-volumes/', {
      service_project_link: link.url,
      tenant: tenant.url,
      name: 'database',
      size: 1024,
    }),
  );
  await steps.step('volume extend', async () => {
    const { runtime_state: state, size } = await staff.act(volume, 'extend', { disk_size: 2048 });
    assert.equal([size, state], [2048, 'available']);
  });
  await steps.step('volume update, pull', async () => {
    await staff.ask(200, 'PATCH', volume.url, { name: 'database 2', description: 'of the shop' });
    await staff.settled(volume);
    await staff.act(volume, 'pull');
    const { description, name } = await cloud.client(`volume show ${volume.backend_id} -f json`);
    assert.equal([name, description], ['database 2', 'of the shop']);
  });
  const snapshot = await steps.step('volume snapshot', () =>
    staff.make(`${volume.url}snapshot/`, { name: 'before upgrade' }),
  );
  await steps.step('snapshot update, pull', async () => {
    await staff.ask(200, 'PATCH', snapshot.url, { name: 'before the upgrade' });
    await staff.settled(snapshot);
    const { metadata, name, size } = await staff.act(snapshot, 'pull');
    assert.equal([name, size, metadata], ['before the upgrade', 2048, {}]);
  });
  const restored = await steps.step('snapshot restore', () =>
    staff.make(`${snapshot.url}restore/`, { name: 'database restored' }),
  );
  assert.equal([restored.size, restored.runtime_state], [2048, 'available']);
  await steps.step('lists the restorations of a snapshot', async () => {
    const created = await staff.get(`${snapshot.url}restorations/`);
    assert.equal(
      created.map(({ name }: Json) => name),
      ['database restored'],
    );
  });
  await steps.step('volume delete', () => staff.remove(restored));
  await steps.step('snapshot delete', () => staff.remove(snapshot));
  await steps.step('volume snapshot with an expiry', () =>
    staff.make(`${volume.url}snapshot/`, { name: dated, kept_until: new Date(Date.now() + 60_000).toISOString() }),
  );
  await steps.step('volume of an image, and a restoration of its snapshot', async () => {
    const image = await staff.only('/api/openstack-images/');
    const system = await staff.make('/api/openstack-volumes/', {
      service_project_link: link.url,
      tenant: tenant.url,
      name: 'system',
      size: 1024,
      image: image.url,
    });
    assert.equal([system.bootable, system.image_name, system.metadata], [true, 'cirros', {}]);
    const snapshot = await staff.make(`${system.url}snapshot/`, { name: 'system' });
    const copy = await staff.make(`${snapshot.url}restore/`, { name: 'system restored' });
    assert.equal([copy.bootable, copy.image_name], [true, 'cirros']);
    for (const object of [copy, snapshot, system]) await staff.remove(object);
  });
  return staff.get(volume.url);
}

/** Attaches a volume to a stopped instance, extends it there, and detaches it. */
export async function attachVolume({ staff, steps }: Life, volume: Json, instance: Json): Promise<void> {
  const disk = async (): Promise<number> => (await staff.get(instance.url)).disk;
  const before = await disk();
  await steps.step('volume attach', async () => {
    const attached = await staff.act(volume, 'attach', { instance: instance.url });
    assert.equal([attached.runtime_state, attached.instance], ['in-use', instance.url]);
    assert.match(attached.device, /^\/dev\//);
    assert.is(await disk(), before + 2048);
  });
  await steps.step('volume snapshot while attached', async () => {
    await staff.remove(await staff.make(`${volume.url}snapshot/`, { name: 'attached' }));
  });
  await steps.step('volume extend while attached', async () => {
    const grown = await staff.act(volume, 'extend', { disk_size: 3072 });
    assert.equal([grown.runtime_state, grown.size, grown.instance], ['in-use', 3072, instance.url]);
    assert.is((await staff.settled(instance)).disk, before + 3072);
  });
  await steps.step('volume detach, and attach under a requested device', async () => {
    await staff.act(volume, 'detach');
    const attached = await staff.act(volume, 'attach', { instance: instance.url, device: '/dev/vdx' });
    assert.match(attached.device, /^\/dev\//);
  });
  await steps.step('volume detach', async () => {
    const detached = await staff.act(volume, 'detach');
    assert.equal([detached.runtime_state, detached.instance, detached.device], ['available', null, '']);
    assert.is(await disk(), before);
  });
}

/** The expired snapshot was deleted automatically. */
export const endDatedSnapshot = ({ staff, steps }: Life): Promise<void> =>
  steps.step('deletes an expired snapshot', async () => {
    const left = (): Promise<Json[]> => staff.get(`/api/openstack-snapshots/?name_exact=${encodeURIComponent(dated)}`);
    await until(dated, async () => (await left()).length === 0 || undefined);
  });
