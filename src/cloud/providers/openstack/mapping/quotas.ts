import type { PlainValues } from '../../../catalogue/driver.ts';
import type { ProjectCloud } from '../api/cloud.ts';
import { gibibytes, inMebibytes } from './values.ts';

/* A tenant's quotas at compute, block storage and network; sizes in MiB here, in GiB there. */

/** Quotas of a tenant with the provider's default limits (providers.md 4.3); sizes in MiB. */
export const firstLimits = {
  vcpu: 20,
  ram: 51_200,
  storage: 1_024_000,
  instances: 30,
  security_group_count: 100,
  security_group_rule_count: 100,
  floating_ip_count: 50,
  volumes: 50,
  snapshots: 50,
  network_count: 10,
  subnet_count: 10,
  volumes_size: -1,
  snapshots_size: -1,
} as const;

type Name = keyof typeof firstLimits;

/** Our quotas by service, with the names of the service. */
export const computeNames = { instances: 'instances', vcpu: 'cores', ram: 'ram' } as const;
export const volumeNames = { volumes: 'volumes', snapshots: 'snapshots', storage: 'gigabytes' } as const;
export const networkNames = {
  security_group_count: 'security_group',
  security_group_rule_count: 'security_group_rule',
  floating_ip_count: 'floatingip',
  network_count: 'network',
  subnet_count: 'subnet',
} as const;

/** Sizes of all volumes and snapshots in a project, in MiB. */
interface StoredSizes {
  readonly volumes: number;
  readonly snapshots: number;
}

/** Limits and usages of a project. Requires administrator rights. */
export async function tenantQuotas(
  { compute, network, volume }: ProjectCloud,
  project: string,
  sizes: StoredSizes,
): Promise<Readonly<Record<Name, { readonly limit: number; readonly usage: number }>>> {
  const { cores, instances, ram } = await compute.quotas.of(project);
  const { gigabytes, snapshots, volumes } = await volume.quotas.of(project);
  const networkQuotas = await network.quotas.of(project);
  const used = ({ in_use: usage, limit }: { readonly limit: number; readonly in_use: number }) => ({ limit, usage });
  const counted = ({ limit, used: usage }: { readonly limit: number; readonly used: number }) => ({ limit, usage });
  return {
    vcpu: used(cores),
    ram: used(ram),
    storage: { limit: inMebibytes(gigabytes.limit), usage: inMebibytes(gigabytes.in_use) },
    instances: used(instances),
    volumes: used(volumes),
    snapshots: used(snapshots),
    volumes_size: { limit: firstLimits.volumes_size, usage: sizes.volumes },
    snapshots_size: { limit: firstLimits.snapshots_size, usage: sizes.snapshots },
    security_group_count: counted(networkQuotas.security_group),
    security_group_rule_count: counted(networkQuotas.security_group_rule),
    floating_ip_count: counted(networkQuotas.floatingip),
    network_count: counted(networkQuotas.network),
    subnet_count: counted(networkQuotas.subnet),
  };
}

/** The same for one project, after reading the sizes of its volumes and snapshots. */
export async function pulledQuotas(own: ProjectCloud, project: string): Promise<PlainValues> {
  const sum = (all: readonly { readonly size: number }[]): number =>
    inMebibytes(all.reduce((total, { size }) => total + size, 0));
  const sizes = { volumes: sum(await own.volume.volumes.list()), snapshots: sum(await own.volume.snapshots.list()) };
  return tenantQuotas(own, project, sizes);
}

/** Our limits at one service, under its names. */
function limitsOf(names: Readonly<Record<string, string>>, limits: PlainValues): Record<string, number> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([ours, theirs]) => {
      const limit = limits[ours];
      if (typeof limit !== 'number') return [];
      return [[theirs, ours === 'storage' ? gibibytes(limit) : limit]];
    }),
  );
}

/** Sets limits of a project at the services that have them. */
export async function pushQuotas(
  { compute, network, volume }: ProjectCloud,
  project: string,
  limits: PlainValues,
): Promise<void> {
  for (const [service, names] of [
    [compute, computeNames],
    [volume, volumeNames],
    [network, networkNames],
  ] as const) {
    const own = limitsOf(names, limits);
    if (Object.keys(own).length > 0) await service.quotas.set(project, own);
  }
}
