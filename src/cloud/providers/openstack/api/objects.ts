import * as v from 'valibot';
import { list, member } from './responses.ts';
import type { Call } from './session.ts';

/* What the services of OpenStack have alike: objects that are listed, made, changed and deleted, and quotas of projects. */

export type Filter = Readonly<Record<string, string>>;
export type Values = Readonly<Record<string, unknown>>;

interface Sort<T> {
  /** Its plural as in addresses, `security-groups`; with underscores in answers. */
  readonly path: string;
  /** `security_group` */
  readonly name: string;
  readonly schema: v.GenericSchema<unknown, T>;
  /** Whether only its list at `…/detail` tells everything. */
  readonly isDetailed?: boolean;
}

const made = v.object({ id: v.string() });

/** One sort of object of a service. */
export class Objects<T> {
  constructor(
    private readonly call: Call,
    private readonly sort: Sort<T>,
  ) {}

  /** Those that a filter selects. The administrator's lists hold every project's at the network service, and elsewhere with `all_tenants`. */
  list = (filter: Filter = {}): Promise<T[]> => {
    const { isDetailed = false, path, schema } = this.sort;
    return list(this.call, `/${path}${isDetailed ? '/detail' : ''}`, path.replaceAll('-', '_'), schema, filter);
  };

  get = async (id: string): Promise<T> => {
    const { name, path, schema } = this.sort;
    return member(await this.call('GET', `/${path}/${id}`), name, schema);
  };

  /** Answers the id of what was made. */
  create = async (values: Values): Promise<string> => {
    const { name, path } = this.sort;
    return member(await this.call('POST', `/${path}`, { [name]: values }), name, made).id;
  };

  update = (id: string, values: Values): Promise<unknown> =>
    this.call('PUT', `/${this.sort.path}/${id}`, { [this.sort.name]: values });

  delete = (id: string): Promise<unknown> => this.call('DELETE', `/${this.sort.path}/${id}`);

  /** Orders an action, such as `{ 'os-start': null }`. */
  act = (id: string, order: Values): Promise<unknown> => this.call('POST', `/${this.sort.path}/${id}/action`, order);
}

/** The quotas of projects at a service. */
export class Quotas<T> {
  constructor(
    private readonly call: Call,
    private readonly places: {
      /** Address of a project's limits, and what is added to it to see them with their usages. */
      readonly of: (project: string) => string;
      readonly shown: string;
      readonly name: string;
    },
    private readonly schema: v.GenericSchema<unknown, T>,
  ) {}

  /** Limits and usages. */
  of = async (project: string): Promise<T> => {
    const { name, of, shown } = this.places;
    return member(await this.call('GET', of(project) + shown), name, this.schema);
  };

  set = (project: string, limits: Readonly<Record<string, number>>): Promise<unknown> =>
    this.call('PUT', this.places.of(project), { [this.places.name]: limits });

  /** Those of the service's defaults are valid again. */
  forget = (project: string): Promise<unknown> => this.call('DELETE', this.places.of(project));
}

/** The quotas of compute and block storage have one form. */
export const quotaSets = <T>(call: Call, shown: string, schema: v.GenericSchema<unknown, T>): Quotas<T> =>
  new Quotas(call, { of: (project) => `/os-quota-sets/${project}`, shown, name: 'quota_set' }, schema);
