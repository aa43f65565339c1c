import { randomUUID } from 'node:crypto';
import type { Json } from '../../support/fixture.ts';
import { denial } from './rejection.ts';

/** The objects of an OpenStack in lists such as `volume/volumes`. They change over time without requests. */
export class Setup {
  /** Milliseconds until an operation finishes; 0: immediately. */
  transitionMs = 0;
  /** Maximum number of objects per page. */
  largestPage = 1000;
  /** By list: overrides for the members of new objects. */
  readonly initialValues: Record<string, (values: Json) => Json> = {};
  readonly #lists = new Map<string, Map<string, Json>>();
  #due: { readonly at: number; readonly run: () => void }[] = [];

  /** `now` are milliseconds since 1970. */
  constructor(readonly now: () => number) {
    this.put('identity/projects', { id: 'admin-project', name: 'admin', domain_id: 'default' });
    this.put('identity/roles', { id: 'member-role', name: 'member' });
    this.put('compute/flavors', { id: 'small', name: 'm1.small', vcpus: 1, ram: 2048, disk: 20 });
    this.put('compute/flavors', { id: 'medium', name: 'm1.medium', vcpus: 2, ram: 4096, disk: 40 });
    this.put('image/images', { id: 'cirros', name: 'cirros', visibility: 'public', status: 'active' });
    const outside = { id: 'public-net', name: 'public', 'router:external': true, project_id: 'admin-project' };
    this.put('network/networks', { ...outside, 'provider:network_type': 'flat', 'provider:segmentation_id': null });
  }

  #list(name: string): Map<string, Json> {
    const list = this.#lists.get(name) ?? new Map<string, Json>();
    this.#lists.set(name, list);
    return list;
  }

  /** Returns the objects of a list. */
  all = (list: string): Json[] => [...this.#list(list).values()];

  find = (list: string, id: string): Json | undefined => this.#list(list).get(id);

  /** Returns an object, which must exist. */
  with(list: string, id: string, text = `${id} could not be found.`): Json {
    const matches = this.find(list, id);
    if (!matches) throw denial(list, 404, text);
    return matches;
  }

  /** Adds an object, for the API or without it. */
  put(list: string, values: Json): Json {
    const object = { id: randomUUID(), created_at: new Date(this.now()).toISOString(), ...values };
    this.#list(list).set(object.id, object);
    return object;
  }

  remove = (list: string, id: string): boolean => this.#list(list).delete(id);

  /** Schedules a change. */
  after(run: () => void): void {
    if (this.transitionMs === 0) run();
    else this.#due.push({ at: this.now() + this.transitionMs, run });
  }

  /** Applies the changes that are due. */
  advance(): void {
    const due = this.#due.filter(({ at }) => at <= this.now());
    this.#due = this.#due.filter(({ at }) => at > this.now());
    for (const { run } of due) run();
  }
}
