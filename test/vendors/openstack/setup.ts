import { randomUUID } from 'node:crypto';
import type { Json } from '../../support/fixture.ts';
import { denial } from './rejection.ts';

/** What an OpenStack holds: objects in lists such as `volume/volumes`, and what becomes of them by themselves. */
export class Setup {
  /** Milliseconds until what was ordered is done; 0: at once. */
  transitionTime = 0;
  /** Objects on a page at most. */
  largestPage = 1000;
  /** By list; what new objects are besides what they were made with, where a test wants others. */
  readonly births: Record<string, (values: Json) => Json> = {};
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

  /** The objects of a list. */
  all = (list: string): Json[] => [...this.#list(list).values()];

  find = (list: string, id: string): Json | undefined => this.#list(list).get(id);

  /** An object that must be there. */
  with(list: string, id: string, text = `${id} could not be found.`): Json {
    const matches = this.find(list, id);
    if (!matches) throw denial(list, 404, text);
    return matches;
  }

  /** Puts an object there, also past the API. */
  put(list: string, values: Json): Json {
    const object = { id: randomUUID(), created_at: new Date(this.now()).toISOString(), ...values };
    this.#list(list).set(object.id, object);
    return object;
  }

  remove = (list: string, id: string): boolean => this.#list(list).delete(id);

  /** Does what follows in its time. */
  after(run: () => void): void {
    if (this.transitionTime === 0) run();
    else this.#due.push({ at: this.now() + this.transitionTime, run });
  }

  /** What is due by now is done. */
  advance(): void {
    const due = this.#due.filter(({ at }) => at <= this.now());
    this.#due = this.#due.filter(({ at }) => at > this.now());
    for (const { run } of due) run();
  }
}
