import { createHash } from 'node:crypto';
import type { Json } from '../../support/fixture.ts';
import type { RestCall, RestRoutes } from '../rest.ts';
import { removePort } from './network.ts';
import { checkParameters, type ObjectKind, page, routesOf, type Site } from './objects.ts';
import type { Quotas } from './quotas.ts';
import { denial } from './rejection.ts';

const task = 'OS-EXT-STS:task_state';
const statistics = {
  vcpus: 64,
  vcpus_used: 4,
  memory_mb: 262_144,
  memory_mb_used: 8192,
  local_gb: 4096,
  local_gb_used: 40,
};

/** Compute: servers with their volumes and ports, flavors and key pairs. */
export function computeRoutes(site: Site, quotas: Quotas): RestRoutes {
  const { contents: setup } = site;
  const server = ({ params: { id = '' } }: RestCall): Json =>
    setup.with('compute/servers', id, `Instance ${id} could not be found.`);
  const volumesOf = (id: string): Json[] =>
    setup.all('volume/volumes').filter(({ attachments }) => attachments[0]?.server_id === id);
  const flavorOf = (id: string): Json => setup.with('compute/flavors', id, `Flavor ${id} could not be found.`);

  const attach = (volume: Json, id: string, device?: string): void => {
    const path = device ?? `/dev/vd${'abcdefgh'[volumesOf(id).length]}`;
    Object.assign(volume, { status: 'in-use', attachments: [{ server_id: id, device: path }] });
  };
  const detach = (volume: Json): void => void Object.assign(volume, { status: 'available', attachments: [] });
  const plug = (port: Json, id: string): void =>
    void Object.assign(port, { device_id: id, device_owner: 'compute:nova' });

  /** Changes a server after a delay. */
  const changeLater = (one: Json, now: Json, then: Json): void => {
    Object.assign(one, now);
    setup.after(() => Object.assign(one, then, { [task]: null }));
  };
  const requireState = (one: Json, wanted: string, order: string): void => {
    if (one.status === wanted && one[task] === null) return;
    const state = `vm_state ${String(one.status).toLowerCase()}`;
    throw denial('compute', 409, `Cannot '${order}' instance ${one.id} while it is in ${state}`);
  };
  const actions: Readonly<Record<string, (one: Json, values: Json) => void>> = {
    'os-start': (one) => {
      requireState(one, 'SHUTOFF', 'start');
      changeLater(one, { [task]: 'powering-on' }, { status: 'ACTIVE' });
    },
    'os-stop': (one) => {
      requireState(one, 'ACTIVE', 'stop');
      changeLater(one, { [task]: 'powering-off' }, { status: 'SHUTOFF' });
    },
    reboot: (one) => {
      requireState(one, 'ACTIVE', 'reboot');
      changeLater(one, { status: 'REBOOT', [task]: 'rebooting' }, { status: 'ACTIVE' });
    },
    resize: (one, { flavorRef: id }) => {
      requireState(one, 'SHUTOFF', 'resize');
      const [before, { ram, vcpus }] = [flavorOf(one.flavor.id), flavorOf(id)];
      quotas.require('compute', one.project_id, { cores: vcpus - before.vcpus, ram: ram - before.ram });
      changeLater(one, { status: 'RESIZE', [task]: 'resize_prep' }, { status: 'VERIFY_RESIZE', flavor: { id } });
    },
    confirmResize: (one) => {
      requireState(one, 'VERIFY_RESIZE', 'confirmResize');
      one.status = 'SHUTOFF';
    },
  };

  const servers: ObjectKind = {
    list: 'compute/servers',
    name: 'server',
    created: 202,
    isOfProject: true,
    isDetailed: true,
    filters: ['name'],
    parameters: {
      required: ['name', 'flavorRef', 'networks'],
      optional: ['block_device_mapping_v2', 'metadata', 'key_name', 'availability_zone', 'user_data'],
    },
    changes: ['name'],
    initialValues: ({ block_device_mapping_v2: disks, flavorRef, key_name: key, networks }, project) => {
      const { ram, vcpus } = flavorOf(flavorRef);
      quotas.require('compute', project, { instances: 1, cores: vcpus, ram });
      for (const { uuid } of disks) {
        const volume = setup.with('volume/volumes', uuid);
        if (volume.status !== 'available') throw denial('compute', 400, `Block Device ${uuid} is not available.`);
      }
      for (const { port } of networks) setup.with('network/ports', port);
      if (key !== undefined && !setup.all('compute/os-keypairs').some(({ name }) => name === key))
        throw denial('compute', 400, 'Invalid key_name provided.');
      return { status: 'BUILD', [task]: 'spawning', flavor: { id: flavorRef }, tenant_id: project };
    },
    onCreated: (one) => {
      one.created = one.created_at;
      for (const { port } of one.networks) plug(setup.with('network/ports', port), one.id);
      setup.after(() => {
        for (const { uuid } of one.block_device_mapping_v2) attach(setup.with('volume/volumes', uuid), one.id);
        if (one.status === 'BUILD') Object.assign(one, { status: 'ACTIVE', [task]: null });
      });
    },
    remove: (one) => {
      one[task] = 'deleting';
      setup.after(() => {
        const taken = new Set(one.block_device_mapping_v2?.map(({ uuid }: Json) => uuid));
        for (const volume of volumesOf(one.id)) {
          detach(volume);
          if (taken.has(volume.id)) setup.remove('volume/volumes', volume.id);
        }
        for (const port of setup.all('network/ports'))
          if (port.device_id === one.id) Object.assign(port, { device_id: '', device_owner: '' });
        setup.remove('compute/servers', one.id);
      });
    },
    displayed: ({
      block_device_mapping_v2: _,
      flavorRef: __,
      networks: ___,
      project_id: ____,
      user_data: _____,
      ...one
    }) => ({ ...one, 'os-extended-volumes:volumes_attached': volumesOf(one.id).map(({ id }) => ({ id })) }),
  };

  return {
    'GET /compute/flavors/detail': (call) => ({
      json: page(site, call, {
        list: 'compute/flavors',
        filters: ['is_public'],
        matches: setup.all('compute/flavors'),
      }),
    }),
    'GET /compute/flavors/:id': ({ params: { id = '' } }) => ({ json: { flavor: flavorOf(id) } }),
    'GET /compute/os-hypervisors/statistics': () => ({ json: { hypervisor_statistics: statistics } }),
    ...routesOf(site, servers),
    'POST /compute/servers/:id/action': (call) => {
      const [[order = '', values] = []] = Object.entries<Json>(call.json);
      const action = actions[order];
      if (!action) throw denial('compute', 400, `There is no such action: ${order}`);
      action(server(call), values);
      return { status: 202 };
    },
    'GET /compute/servers/:id/os-volume_attachments': (call) => ({
      json: {
        volumeAttachments: volumesOf(server(call).id).map(({ attachments: [{ device }], id }) => ({
          id,
          volumeId: id,
          device,
        })),
      },
    }),
    'POST /compute/servers/:id/os-volume_attachments': (call) => {
      const { id } = server(call);
      const { volumeAttachment: wanted } = call.json;
      checkParameters('compute', wanted, { required: ['volumeId'], optional: ['device'] });
      const volume = setup.with('volume/volumes', wanted.volumeId);
      if (volume.status !== 'available')
        throw denial('compute', 400, `Invalid volume: volume ${volume.id} status must be 'available'.`);
      volume.status = 'attaching';
      setup.after(() => attach(volume, id, wanted.device));
      return { json: { volumeAttachment: { id: volume.id, volumeId: volume.id, serverId: id } } };
    },
    'DELETE /compute/servers/:id/os-volume_attachments/:volume': (call) => {
      const { id } = server(call);
      const volume = volumesOf(id).find((one) => one.id === call.params.volume);
      if (!volume) throw denial('compute', 404, `volume_id not found: ${call.params.volume}`);
      volume.status = 'detaching';
      setup.after(() => detach(volume));
      return { status: 202 };
    },
    'POST /compute/servers/:id/os-interface': (call) => {
      const { id } = server(call);
      const port = setup.with('network/ports', call.json.interfaceAttachment.port_id);
      if (port.device_id !== '') throw denial('compute', 400, `Port ${port.id} is still in use.`);
      plug(port, id);
      return { json: { interfaceAttachment: { port_id: port.id } } };
    },
    'DELETE /compute/servers/:id/os-interface/:port': (call) => {
      const { id } = server(call);
      const port = setup.find('network/ports', call.params.port ?? '');
      if (port?.device_id !== id) throw denial('compute', 404, `No such port ${call.params.port}`);
      setup.after(() => removePort(site, port.id));
      return { status: 202 };
    },
    'GET /compute/os-keypairs': () => ({
      json: {
        keypairs: setup.all('compute/os-keypairs').map(({ fingerprint, name }) => ({ keypair: { fingerprint, name } })),
      },
    }),
    'POST /compute/os-keypairs': ({ json: { keypair } }) => {
      checkParameters('compute', keypair, { required: ['name', 'public_key'], optional: [] });
      if (setup.find('compute/os-keypairs', keypair.name))
        throw denial('compute', 409, `Key pair '${keypair.name}' already exists.`);
      const bytes = Buffer.from(keypair.public_key.split(/\s+/)[1] ?? '', 'base64');
      const fingerprint = createHash('md5')
        .update(bytes)
        .digest('hex')
        .replace(/(..)(?=.)/g, '$1:');
      setup.put('compute/os-keypairs', { id: keypair.name, ...keypair, fingerprint });
      return { json: { keypair: { name: keypair.name, fingerprint } } };
    },
    'DELETE /compute/os-keypairs/:name': ({ params: { name = '' } }) => {
      if (!setup.remove('compute/os-keypairs', name)) throw denial('compute', 404, `Keypair ${name} not found`);
      return { status: 202 };
    },
  };
}
