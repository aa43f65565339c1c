import * as v from 'valibot';
import { list, member } from './responses.ts';
import type { Call } from './session.ts';

/* Common to the services of OpenStack: objects that are listed, created, changed and deleted, and quotas of projects. */

type Filter = Readonly<Record<string, string>>;
export type Values = Readonly<Record<string, unknown>>;

interface Sort<T> {
  /** Plural in addresses, such as `security-groups`; responses use underscores. */
  readonly path: string;
  /** `security_group` */
  readonly name: string;
  readonly schema: v.GenericSchema<unknown, T>;
  /** Whether the full list is at `…/detail`. */
  readonly isDetailed?: boolean;
}

const created = v.object({ id: v.string() });

/** One kind of object of a service. */
export class Objects<T> {
  constructor(
    private readonly call: Call,
    private readonly sort: Sort<T>,
  ) {}

  /** The objects that match a filter. An administrator sees those of all projects at the network service, elsewhere only with `all_tenants`. */
  list = (filter: Filter = {}): Promise<T[]> => {
    const { isDetailed = false, path, schema } = this.sort;
    return list(this.call, `/${path}${isDetailed ? '/detail' : ''}`, path.replaceAll('-', '_'), schema, filter);
  };

  get = async (id: string): Promise<T> => {
    const { name, path, schema } = this.sort;
    return member(await this.call('GET', `/${path}/${id}`), name, schema);
  };

  /** Creates an object. Returns its id. */
  create = async (values: Values): Promise<string> => {
    const { name, path } = this.sort;
    return member(await this.call('POST', `/${path}`, { [name]: values }), name, created).id;
  };

  update = (id: string, values: Values): Promise<unknown> =>
    this.call('PUT', `/${this.sort.path}/${id}`, { [this.sort.name]: values });

  delete = (id: string): Promise<unknown> => this.call('DELETE', `/${this.sort.path}/${id}`);

  /** Runs an action, such as `{ 'os-start': null }`. */
  act = (id: string, order: Values): Promise<unknown> => this.call('POST', `/${this.sort.path}/${id}/action`, order);
}

/** The quotas of projects at a service. */
export class Quotas<T> {
  constructor(
    private readonly call: Call,
    private readonly places: {
      /** Address of a project's limits, and the suffix that adds their usages. */
      readonly of: (project: string) => string;
      readonly displayed: string;
      readonly name: string;
    },
    private readonly schema: v.GenericSchema<unknown, T>,
  ) {}

  /** Limits and usages. */
  of = async (project: string): Promise<T> => {
    const { name, of, displayed } = this.places;
    return member(await this.call('GET', of(project) + displayed), name, this.schema);
  };

  set = (project: string, limits: Readonly<Record<string, number>>): Promise<unknown> =>
    this.call('PUT', this.places.of(project), { [this.places.name]: limits });

  /** Restores the defaults of the service. */
  forget = (project: string): Promise<unknown> => this.call('DELETE', this.places.of(project));
}

/** Compute and block storage share the format of quotas. */
export const quotaSets = <T>(call: Call, displayed: string, schema: v.GenericSchema<unknown, T>): Quotas<T> =>
  new Quotas(call, { of: (project) => `/os-quota-sets/${project}`, displayed, name: 'quota_set' }, schema);
