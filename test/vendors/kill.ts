import { suite, type Test } from 'uvu';
import type { Json } from '../support/fixture.ts';
import { KillableServer, until } from './killable-server.ts';
import type { StandIn } from './stand-in.ts';

/** A suite that kills the program while the vendor stand-in keeps running. */
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

  /** Sends a request as staff; returns the body. */
  ask = (method: string, path: string, body?: unknown): Promise<Json> => this.server.ask(method, path, body);

  /** Returns all objects of lists such as `aws-volumes`, each list by name. */
  async rows(...lists: string[]): Promise<Json[]> {
    return (await Promise.all(lists.map((list) => this.ask('GET', `/api/${list}/?page_size=200&o=name`)))).flat();
  }

  /** Waits until no object in these lists has a running operation. */
  waitForOperations = (...lists: string[]): Promise<void> =>
    until('every operation', async () =>
      (await this.rows(...lists)).every(({ state }) => state === 'OK' || state === 'Erred'),
    );

  /** Injects faults into the next calls of each route: `times` calls are executed without a response, and as many not at all. */
  injectFaults(routes: readonly string[], times = 1): void {
    this.resetCalls();
    for (const route of routes) {
      this.vendor.server.injectFault(route, 'no response', times);
      this.vendor.server.injectFault(route, 'swallowed', times);
    }
  }

  /** Resets the count of calls. */
  resetCalls(): void {
    this.vendor.server.take();
    this.#calls = [];
  }

  /** Returns the number of calls of a route. */
  countCalls(route: string): number {
    this.#calls.push(...this.vendor.server.take().map((call) => call.route));
    return this.#calls.filter((call) => call === route).length;
  }

  /** Waits until every route was called this many times. */
  waitForCalls = (routes: readonly string[], times: number): Promise<void> =>
    until(routes.join(', '), () => routes.every((route) => this.countCalls(route) === times));

  /** Kills the program during its work, and starts it again. */
  async kill(): Promise<void> {
    await this.server.kill();
    await this.server.start();
  }
}
