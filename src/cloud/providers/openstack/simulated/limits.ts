import type { PlainValues } from '../../../catalogue/driver.ts';
import type { OtherObject } from '../../../catalogue/simulation.ts';
import { computeNames, type firstLimits, networkNames, volumeNames } from '../mapping/quotas.ts';
import { gibibytes } from '../mapping/values.ts';
import { type Quotas, quotasOf } from './quotas.ts';

/* Enforces a tenant's limits in the simulated cloud, with the messages of OpenStack Zed. */

type Amounts = Partial<Record<keyof typeof firstLimits, number>>;

/** An exceeded quota, with the name and units of its service. */
interface Short {
  readonly name: string;
  readonly need: number;
  readonly limit: number;
  readonly usage: number;
}

interface Service {
  /** The service's names of our quotas. */
  readonly names: Readonly<Record<string, string>>;
  /** Message for a request that exceeds quotas; `all` is not empty and in the order of names. */
  readonly excess: (all: readonly Short[]) => string;
  /** Message for a limit below the usage; absent if the service accepts it. */
  readonly lowered?: (one: Short) => string;
}

const compute: Service = {
  names: computeNames,
  excess: (all) => {
    const list = (value: (one: Short) => unknown): string => all.map(value).join(', ');
    const names = list(({ name }) => name);
    const used = `${list(({ usage }) => usage)} of ${list(({ limit }) => limit)}`;
    return `Quota exceeded for ${names}: Requested ${list(({ need }) => need)}, but already used ${used} ${names}`;
  },
  lowered: ({ limit, name, usage }) =>
    `Quota limit ${limit} for ${name} must be greater than or equal to already used and reserved ${usage}.`,
};

const storageWords: Readonly<Record<string, (one: Short) => string>> = {
  gigabytes: ({ limit, need, usage }) =>
    `VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested ${need}G, quota is ${limit}G and ${usage}G has been consumed.`,
  snapshots: ({ limit }) => `SnapshotLimitExceeded: Maximum number of snapshots allowed (${limit}) exceeded`,
  volumes: ({ limit }) =>
    `VolumeLimitExceeded: Maximum number of volumes allowed (${limit}) exceeded for quota 'volumes'.`,
};

const storage: Service = {
  names: volumeNames,
  excess: ([first]) => (first && storageWords[first.name]?.(first)) ?? '',
  lowered: ({ limit, name, usage }) =>
    `Quota ${name} limit must be equal or greater than existing resources. Current usage is ${usage} and the requested limit is ${limit}.`,
};

const network: Service = {
  names: networkNames,
  excess: (all) => `Quota exceeded for resources: [${all.map(({ name }) => `'${name}'`).join(', ')}].`,
};

/** In the order in which the driver sets limits. */
const services: readonly Service[] = [compute, storage, network];

/** An amount as a service counts it: sizes of disks in GiB. */
const counted = (name: string, amount: number): number => (name === 'gigabytes' ? gibibytes(amount) : amount);

/** Why a service rejects a request for these amounts; undefined if it accepts it. */
function excessOf(quotas: Quotas, order: Amounts): string | undefined {
  const needs: Readonly<Record<string, number>> = order;
  for (const { excess, names } of services) {
    const short = Object.entries(names).flatMap(([ours, name]): Short[] => {
      const { limit = -1, usage = 0 } = quotas[ours] ?? {};
      const need = needs[ours] ?? 0;
      if (need <= 0 || limit < 0 || usage + need <= limit) return [];
      return [{ name, need: counted(name, need), limit: counted(name, limit), usage: counted(name, usage) }];
    });
    if (short.length > 0) return excess(short.sort((a, b) => a.name.localeCompare(b.name)));
  }
  return undefined;
}

/** The quotas after a request. */
const after = (quotas: Quotas, order: Amounts): Quotas => ({
  ...quotas,
  ...Object.fromEntries(
    Object.entries(order).map(([name, need]) => {
      const { limit = -1, usage = 0 } = quotas[name] ?? {};
      return [name, { limit, usage: usage + need }];
    }),
  ),
});

/**
 * Why the cloud rejects an operation in a tenant; undefined within the limits. `orders` returns the amounts of each call; negative
 * amounts are released. The API counts only objects with rows; the cloud also counts unmanaged objects.
 */
export const within =
  (orders: (object: PlainValues, parameters: PlainValues) => readonly Amounts[]) =>
  (object: PlainValues, all: (kind: string) => readonly OtherObject[], parameters: PlainValues): string | undefined => {
    const tenant = all('Tenant').find(({ backend_id: id }) => id === object.tenant_backend_id);
    let quotas = tenant ? quotasOf(tenant, all) : {};
    for (const order of orders(object, parameters)) {
      const rejection = excessOf(quotas, order);
      if (rejection !== undefined) return rejection;
      quotas = after(quotas, order);
    }
    return undefined;
  };

/** Why the cloud rejects new limits of a tenant; undefined if it accepts them. */
export function exceededLimits(
  { backend_id: id }: PlainValues,
  all: (kind: string) => readonly OtherObject[],
  limits: PlainValues,
): string | undefined {
  const tenant = all('Tenant').find(({ backend_id }) => backend_id === id);
  const quotas = tenant ? quotasOf(tenant, all) : {};
  for (const { lowered, names } of services)
    for (const [ours, name] of Object.entries(names)) {
      const [wanted, used] = [limits[ours], quotas[ours]?.usage ?? 0];
      if (typeof wanted !== 'number' || !lowered) continue;
      const [limit, usage] = [counted(name, wanted), counted(name, used)];
      if (limit >= 0 && limit < usage) return lowered({ name, need: 0, limit, usage });
    }
  return undefined;
}
