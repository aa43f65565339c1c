import type { Json } from '../../support/fixture.ts';
import type { RestRejection, RestRoutes } from '../rest.ts';
import { checkParameters, type Site } from './objects.ts';
import { denial } from './rejection.ts';

/** The quotas of a service: usages in a project by name, and the initial limits. */
interface Counted {
  readonly usages: (project: string) => Readonly<Record<string, number>>;
  readonly limits: Readonly<Record<string, number>>;
}

const sum = (objects: readonly Json[], value: (object: Json) => number): number =>
  objects.reduce((total, object) => total + value(object), 0);

type Service = 'compute' | 'volume' | 'network';

/** The three services with quotas. */
export class Quotas {
  readonly #limits = new Map<string, Record<string, number>>();
  readonly #services: Readonly<Record<Service, Counted>>;

  constructor(site: Site) {
    const { contents: setup } = site;
    const of = (list: string, project: string): Json[] =>
      setup.all(list).filter(({ project_id: id }) => id === project);
    const flavorOf = ({ flavor }: Json): Json => setup.find('compute/flavors', flavor.id) ?? { vcpus: 0, ram: 0 };
    this.#services = {
      compute: {
        limits: { instances: 10, cores: 20, ram: 51_200 },
        usages: (project) => {
          const servers = of('compute/servers', project);
          const flavors = servers.map(flavorOf);
          return {
            instances: servers.length,
            cores: sum(flavors, ({ vcpus }) => vcpus),
            ram: sum(flavors, ({ ram }) => ram),
          };
        },
      },
      volume: {
        limits: { volumes: 10, snapshots: 10, gigabytes: 1000 },
        usages: (project) => {
          const [volumes, snapshots] = [of('volume/volumes', project), of('volume/snapshots', project)];
          const gigabytes = sum([...volumes, ...snapshots], ({ size }) => size);
          return { volumes: volumes.length, snapshots: snapshots.length, gigabytes };
        },
      },
      network: {
        limits: { network: 100, subnet: 100, floatingip: 50, security_group: 10, security_group_rule: 100 },
        usages: (project) => {
          const groups = of('network/security-groups', project);
          return {
            network: of('network/networks', project).length,
            subnet: of('network/subnets', project).length,
            floatingip: of('network/floatingips', project).length,
            security_group: groups.length,
            security_group_rule: sum(groups, ({ security_group_rules: rules }) => rules.length),
          };
        },
      },
    };
  }

  #limitsOf = (service: Service, project: string): Record<string, number> => {
    const key = `${service} ${project}`;
    const limits = this.#limits.get(key) ?? { ...this.#services[service].limits };
    this.#limits.set(key, limits);
    return limits;
  };

  /** Throws if an addition would exceed the limits of a project. */
  require(service: Service, project: string, more: Readonly<Record<string, number>>): void {
    const limits = this.#limitsOf(service, project);
    const used = this.#services[service].usages(project);
    const short = Object.entries(more).flatMap(([name, requests]): Excess[] => {
      const [limit = -1, usage = 0] = [limits[name], used[name]];
      return requests > 0 && limit >= 0 && usage + requests > limit ? [{ name, requests, limit, usage }] : [];
    });
    if (short.length > 0)
      throw exceeded(
        service,
        short.sort((a, b) => a.name.localeCompare(b.name)),
      );
  }

  get routes(): RestRoutes {
    const amounts = (service: Service, project: string): Json => {
      const limits = this.#limitsOf(service, project);
      const usages = this.#services[service].usages(project);
      const word = service === 'network' ? 'used' : 'in_use';
      return Object.fromEntries(
        Object.keys(usages).map((name) => [name, { limit: limits[name], [word]: usages[name], reserved: 0 }]),
      );
    };
    const routes = (service: Service, path: string, member: string, displayed: string): RestRoutes => ({
      [`GET ${path}${displayed}`]: ({ params: { project = '' } }) => ({
        json: { [member]: amounts(service, project) },
      }),
      [`PUT ${path}`]: ({ json, params: { project = '' } }) => {
        const { limits, usages } = this.#services[service];
        checkParameters(service, json[member], { optional: Object.keys(limits) });
        for (const [name, limit] of Object.entries<number>(json[member])) {
          const { [name]: usage = 0 } = usages(project);
          const rejection = limit >= 0 && limit < usage && tooLow[service]?.(name, limit, usage);
          if (rejection) throw denial(service, 400, rejection);
        }
        return { json: { [member]: Object.assign(this.#limitsOf(service, project), json[member]) } };
      },
      [`DELETE ${path}`]: ({ params: { project = '' } }) => {
        this.#limits.delete(`${service} ${project}`);
        return { status: service === 'compute' ? 202 : service === 'network' ? 204 : 200 };
      },
    });
    return {
      ...routes('compute', '/compute/os-quota-sets/:project', 'quota_set', '/detail'),
      ...routes('volume', '/volume/os-quota-sets/:project', 'quota_set', ''),
      ...routes('network', '/network/quotas/:project', 'quota', '/details'),
    };
  }
}

interface Excess {
  readonly name: string;
  readonly requests: number;
  readonly limit: number;
  readonly usage: number;
}

/** The messages of OpenStack Zed. */
function exceeded(service: Service, short: readonly Excess[]): RestRejection {
  const list = (value: (one: Excess) => unknown): string => short.map(value).join(', ');
  const names = list(({ name }) => name);
  if (service === 'compute') {
    const used = `${list(({ usage }) => usage)} of ${list(({ limit }) => limit)}`;
    const requested = list(({ requests }) => requests);
    return denial(
      service,
      403,
      `Quota exceeded for ${names}: Requested ${requested}, but already used ${used} ${names}`,
    );
  }
  if (service === 'network')
    return denial(service, 409, `Quota exceeded for resources: [${list(({ name }) => `'${name}'`)}].`);
  const [{ requests, limit, name, usage }] = short as [Excess];
  const words: Readonly<Record<string, string>> = {
    gigabytes: `VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested ${requests}G, quota is ${limit}G and ${usage}G has been consumed.`,
    volumes: `VolumeLimitExceeded: Maximum number of volumes allowed (${limit}) exceeded for quota 'volumes'.`,
    snapshots: `SnapshotLimitExceeded: Maximum number of snapshots allowed (${limit}) exceeded`,
  };
  return denial(service, 413, words[name] ?? '');
}

/** The messages for a limit below the usage, which the network service accepts. */
const tooLow: Readonly<Partial<Record<Service, (name: string, limit: number, usage: number) => string>>> = {
  compute: (name, limit, usage) =>
    `Quota limit ${limit} for ${name} must be greater than or equal to already used and reserved ${usage}.`,
  volume: (name, limit, usage) =>
    `Quota ${name} limit must be equal or greater than existing resources. Current usage is ${usage} and the requested limit is ${limit}.`,
};
