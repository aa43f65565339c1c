/** A simulated vendor as a separate process, with an account of the size in the benchmark; each response takes 20 ms. */
import { Amazon } from '../vendors/amazon/stand-in.ts';
import { OpenStack } from '../vendors/openstack/stand-in.ts';
import type { StandIn } from '../vendors/stand-in.ts';
import { machines, otherVolumes, ownImages, pace, projects } from './sync-size.ts';

const numbered = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

async function amazon(): Promise<[StandIn, object]> {
  const vendor = await Amazon.start();
  const { contents: account } = vendor;
  const region = 'eu-central-1';
  for (let n = 0; n < machines; n++) account.launch(region, `machine-${n}`);
  for (let n = 0; n < otherVolumes; n++)
    account.addVolume({ region, zone: `${region}a`, size: 8, type: 'gp2', tags: new Map(), attachment: undefined });
  const image = account.images.find((one) => one.region === region);
  if (!image) throw new Error('The simulated vendor has no image');
  const named = (n: number) => ({ ...image, id: `ami-${String(n).padStart(17, '0')}`, name: `image-${n}` });
  account.images.push(...numbered(ownImages, named));
  const [[username, { secret: token }] = ['', { secret: '' }]] = vendor.accessKeys;
  return [vendor, { username, token }];
}

async function openstack(): Promise<[StandIn, object]> {
  const vendor = await OpenStack.start();
  const { contents: account } = vendor;
  const tenants = numbered(projects, (n) =>
    account.put('identity/projects', { name: `project-${n}`, domain_id: 'default' }),
  );
  const owner = (n: number): string => tenants[n % projects]?.id;
  const subnet = account.put('network/subnets', {
    network_id: 'public-net',
    cidr: '10.0.0.0/8',
    gateway_ip: '10.0.0.1',
  });
  const volume = (n: number, server?: string): void =>
    void account.put('volume/volumes', {
      name: `volume-${n}`,
      project_id: owner(n),
      'os-vol-tenant-attr:tenant_id': owner(n),
      status: server ? 'in-use' : 'available',
      size: 10,
      bootable: String(server !== undefined),
      volume_type: 'lvm',
      metadata: {},
      volume_image_metadata: {
        image_id: 'cirros',
        image_name: 'cirros',
        container_format: 'bare',
        disk_format: 'qcow2',
      },
      attachments: server ? [{ server_id: server, device: '/dev/vda' }] : [],
    });
  for (let n = 0; n < machines; n++) {
    const { id } = account.put('compute/servers', {
      name: `machine-${n}`,
      status: 'ACTIVE',
      project_id: owner(n),
      tenant_id: owner(n),
      flavor: { id: 'small' },
      metadata: {},
      'OS-EXT-STS:task_state': null,
    });
    volume(n, id);
    account.put('network/ports', {
      network_id: 'public-net',
      project_id: owner(n),
      device_id: id,
      device_owner: 'compute:nova',
      mac_address: 'fa:16:3e:00:00:01',
      security_groups: [],
      fixed_ips: [{ subnet_id: subnet.id, ip_address: `10.0.${n >> 8}.${n & 255}` }],
    });
  }
  for (let n = 0; n < otherVolumes; n++) volume(machines + n);
  for (let n = 0; n < ownImages; n++)
    account.put('image/images', {
      name: `image-${n}`,
      visibility: 'public',
      status: 'active',
      min_disk: 1,
      min_ram: 64,
    });
  return [vendor, { username: 'admin', password: vendor.password }];
}

const [vendor, credentials] = await { amazon, openstack }[process.argv[2] as 'amazon' | 'openstack']();
vendor.server.pace = pace;
process.send?.({ ...credentials, backend_url: vendor.url });
process.on('disconnect', () => process.exit());
