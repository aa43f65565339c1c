import type { Json } from '../../support/fixture.ts';
import type { RestRoutes } from '../rest.ts';
import { check, type Site } from './objects.ts';
import { refusal } from './refusal.ts';

/** What a service counts: usages in a project by the names of its quotas, and the limits at the beginning. */
interface Counted {
  readonly usages: (project: string) => Readonly<Record<string, number>>;
  readonly limits: Readonly<Record<string, number>>;
}

const sum = (objects: readonly Json[], value: (object: Json) => number): number =>
  objects.reduce((total, object) => total + value(object), 0);

type Service = 'compute' | 'volume' | 'network';

/** The quotas of the three services that have some. */
export class Quotas {
  readonly #limits = new Map<string, Record<string, number>>();
  readonly #services: Readonly<Record<Service, Counted>>;

  constructor(site: Site) {
    const { world } = site;
    const of = (list: string, project: string): Json[] =>
      world.all(list).filter(({ project_id: id }) => id === project);
    const flavorOf = ({ flavor }: Json): Json => world.find('compute/flavors', flavor.id) ?? { vcpus: 0, ram: 0 };
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

  /** Throws where something more would be more than a project may have. */
  demand(service: Service, project: string, more: Readonly<Record<string, number>>): void {
    const limits = this.#limitsOf(service, project);
    const used = this.#services[service].usages(project);
    for (const [name, asked] of Object.entries(more)) {
      const [limit = -1, usage = 0] = [limits[name], used[name]];
      if (limit >= 0 && usage + asked > limit) throw exceeded(service, name, { asked, limit, usage });
    }
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
    const routes = (service: Service, path: string, member: string, shown: string): RestRoutes => ({
      [`GET ${path}${shown}`]: ({ params: { project = '' } }) => ({ json: { [member]: amounts(service, project) } }),
      [`PUT ${path}`]: ({ json, params: { project = '' } }) => {
        check(service, json[member], { optional: Object.keys(this.#services[service].limits) });
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
  readonly asked: number;
  readonly limit: number;
  readonly usage: number;
}

function exceeded(service: string, name: string, { asked, limit, usage }: Excess) {
  if (service === 'compute')
    return refusal(
      service,
      403,
      `Quota exceeded for ${name}: Requested ${asked}, but already used ${usage} of ${limit} ${name}`,
    );
  if (service === 'volume')
    return refusal(service, 413, `${name === 'gigabytes' ? 'Volume' : name} quota exceeded: ${usage} of ${limit}`);
  return refusal(service, 409, `Quota exceeded for resources: ['${name}'].`);
}
