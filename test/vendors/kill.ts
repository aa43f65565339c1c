import { suite, type Test } from 'uvu';
import type { Json } from '../support/fixture.ts';
import { KillableServer, until } from './killable-server.ts';
import type { StandIn } from './stand-in.ts';

/** A suite in which the program is killed as a separate process, at a stand-in that outlives it. */
export class KillTest<V extends StandIn> {
  readonly test: Test;
  readonly server = new KillableServer();
  #vendor: V | undefined;
  #calls: string[] = [];

  constructor(name: string, start: (now: () => number) => Promise<V>) {
    this.test = suite(name);
    this.test.before(async () => {
      this.#vendor = await start(this.server.now);
      await this.server.start();
    });
    this.test.after(async () => {
      await this.server.end();
      await this.#vendor?.close();
    });
  }

  get vendor(): V {
    if (!this.#vendor) throw new Error('The stand-in has not been started.');
    return this.#vendor;
  }

  /** A request of staff; returns the body. */
  ask = (method: string, path: string, body?: unknown): Promise<Json> => this.server.ask(method, path, body);

  /** All objects of lists such as `aws-volumes`, each in the order of names. */
  async rows(...lists: string[]): Promise<Json[]> {
    return (await Promise.all(lists.map((list) => this.ask('GET', `/api/${list}/?page_size=200&o=name`)))).flat();
  }

  /** Waits until no operation of the objects in these lists is under way. */
  resting = (...lists: string[]): Promise<void> =>
    until('every operation', async () =>
      (await this.rows(...lists)).every(({ state }) => state === 'OK' || state === 'Erred'),
    );

  /** Of the next calls of each route so many are done and not answered, and as many are not even done. */
  spoil(routes: readonly string[], times = 1): void {
    this.forget();
    for (const route of routes) {
      this.vendor.server.mishap(route, 'no response', times);
      this.vendor.server.mishap(route, 'swallowed', times);
    }
  }

  /** Counts calls again from here. */
  forget(): void {
    this.vendor.server.take();
    this.#calls = [];
  }

  /** How many calls of a route there were. */
  count(route: string): number {
    this.#calls.push(...this.vendor.server.take().map((call) => call.route));
    return this.#calls.filter((call) => call === route).length;
  }

  /** Waits until every route was called so often. */
  called = (routes: readonly string[], times: number): Promise<void> =>
    until(routes.join(', '), () => routes.every((route) => this.count(route) === times));

  /** Kills the program in the middle of what it does, and starts it again. */
  async kill(): Promise<void> {
    await this.server.kill();
    await this.server.start();
  }
}
