/**
 * Two built servers with copies of the same data, one lease, and faults that move the lease from one to the other while clients
 * write to both. An object store in this process records when each of them acquired the lease.
 */
import type { ChildProcess } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { FaultyProxy } from '../support/faulty-proxy.ts';
import type { ObjectStore } from '../support/object-store.ts';
import { builtProgram, type Ended, nativeCache, Program, type Serving } from '../support/program.ts';
import { ProgramClock } from '../support/program-clock.ts';

/** Milliseconds between two writes of a client, and for which clients write before a fault and after its end. */
const writeMs = 250;
const calmMs = 1500;
const maxPromotions = 3;
/** Maximum seconds by which the clock of a server jumps: less than the lifetime of the client's token. */
const farthest = 1200;

/** How much lower the priority of the servers is than that of the observer, which must not see events late. */
export const niceness = process.getuid?.() === 0 ? 15 : 0;

/** Faults of the server with the lease, and whether the other server must be able to take it over. */
export const scenarios = {
  /** Connections to the store are closed. */
  cut: { takesOver: true },
  /** Requests to the store or its responses are lost. */
  silent: { takesOver: true },
  deaf: { takesOver: true },
  /** Requests reach the store late, most of them after the server has given up. */
  late: { takesOver: undefined },
  /** The process is stopped for longer than the TTL. */
  stopped: { takesOver: true },
  /** The machine is suspended for longer than the TTL, which its monotonic clock omits. */
  suspended: { takesOver: true },
  killed: { takesOver: true },
  /** A clean shutdown. */
  released: { takesOver: true },
  /** No fault: the other server must not take over the lease. */
  healthy: { takesOver: false },
} as const;

export type Scenario = keyof typeof scenarios;

/** The time from which a server may write, according to the object store. */
interface Term {
  readonly epoch: number;
  readonly holder: string;
  readonly at: number;
}

/** An acknowledged write: its scenario, and the interval in which the response may have arrived. */
interface Acknowledged {
  readonly epoch: number;
  readonly scenario: Scenario | 'none';
  readonly from: number;
  readonly until: number;
}

/** The last two iterations of the event loop. Data read in one may have arrived since the previous one. */
let iterations: readonly [number, number] = [performance.now(), performance.now()];
setInterval(() => {
  iterations = [iterations[1], performance.now()];
}, 5).unref();

/** One of the two servers. */
interface Member {
  readonly folder: string;
  readonly proxy: FaultyProxy;
  readonly clock: ProgramClock;
  readonly env: Readonly<Record<string, string>>;
  server: Serving | undefined;
  process: ChildProcess | undefined;
  writing: Promise<void>;
}

interface PairOptions {
  readonly store: ObjectStore;
  /** The key of the lease. */
  readonly key: string;
  /** A data folder with a user, and the user's token. */
  readonly data: string;
  readonly token: string;
}

/** Seconds from a fault until the store gave the lease to the other server, and until that server acknowledged a write. */
export interface TakeOver {
  readonly scenario: Scenario;
  readonly acquired: number;
  readonly written: number;
}

export class LeasePair {
  readonly acknowledged: Acknowledged[] = [];
  rejected = 0;
  /** Responses to writes other than 201, 503, and 408 after the process was stopped. */
  readonly unexpected: string[] = [];
  readonly #terms: Term[] = [];
  readonly #program = new Program(nativeCache, ['nice', '-n', String(niceness), process.execPath, builtProgram]);
  #count = 0;
  #scenario: Scenario | 'none' = 'none';
  #holder: Member | undefined;

  constructor(private readonly options: PairOptions) {
    const { key, store } = options;
    const set = store.objects.set.bind(store.objects);
    store.objects.set = (name, content) => {
      if (name === key) this.#note(JSON.parse(content.toString()));
      return set(name, content);
    };
  }

  /** Starts the first server. */
  async open(): Promise<void> {
    const first = await this.#member();
    cpSync(this.options.data, first.folder, { recursive: true });
    await this.#serve(first);
    this.#holder = first;
  }

  async end(): Promise<void> {
    await this.#program.end();
    const holder = this.#holder;
    if (!holder) return;
    holder.server = undefined;
    await holder.writing;
    await holder.proxy.close();
  }

  /** Writes that a server acknowledged outside its term, with the gap in milliseconds. */
  get overlaps(): { readonly scenario: string; readonly ms: number }[] {
    return this.acknowledged.flatMap(({ epoch, from, scenario, until }) => {
      const i = this.#terms.findIndex((term) => term.epoch === epoch);
      const [begin = Number.POSITIVE_INFINITY, end = Number.POSITIVE_INFINITY] = [
        this.#terms[i]?.at,
        this.#terms[i + 1]?.at,
      ];
      const ms = Math.round(Math.max(begin - until, from - end));
      return ms > 0 ? [{ scenario, ms }] : [];
    });
  }

  /**
   * Clients write while the server with the lease has a fault, the other one is promoted, and the fault ends. Returns undefined
   * if the lease did not move.
   */
  async round(scenario: Scenario): Promise<TakeOver | undefined> {
    const old = this.#holder as Member;
    this.#scenario = scenario;
    await pause(calmMs);
    const next = await this.#copy(old);
    const begun = performance.now();
    const terms = this.#terms.length;
    const end = await this.#begin(scenario, old);
    this.#jump([old, next]);
    const promoted = await this.#promote(next);
    const { takesOver } = scenarios[scenario];
    const hasMoved = promoted.code === 0;
    if (takesOver !== undefined && takesOver !== hasMoved)
      throw new Error(`${scenario}: promote ended with ${promoted.code}: ${promoted.stderr}`);
    if (!hasMoved) return this.#keep(next, end);
    const before = this.acknowledged.length;
    await this.#serve(next);
    this.#holder = next;
    const { epoch } = this.#terms.at(-1) as Term;
    await eventually(
      `${scenario}: the promoted server acknowledges a write`,
      () => this.acknowledged.slice(before).some((one) => one.epoch === epoch),
      60,
    );
    const written = (performance.now() - begun) / 1000;
    const acquired = ((this.#terms[terms]?.at ?? 0) - begun) / 1000;
    this.#jump([old, next]);
    end();
    await pause(calmMs);
    if (scenario !== 'killed' && scenario !== 'released') await this.#requireFenced(scenario, old);
    await this.#remove(old);
    return { scenario, acquired, written };
  }

  /** Promotes a copy. On a busy machine, the command's lease may expire before the command has renewed it. */
  async #promote(next: Member): Promise<Ended> {
    for (let attempt = 1; ; attempt++) {
      const ended = await this.#program.run(['promote', ...this.#words(next)], { env: next.env });
      const isLate = ended.stderr.includes('This server does not hold the lease');
      if (ended.code === 0 || !isLate || attempt === maxPromotions) return ended;
    }
  }

  /** If the server keeps the lease, it must acknowledge a write after the fault. */
  async #keep(next: Member, end: () => void): Promise<undefined> {
    end();
    const before = this.acknowledged.length;
    await eventually(
      'the server that kept the lease acknowledges a write',
      () => this.acknowledged.length > before,
      30,
    );
    await this.#remove(next);
  }

  /** Begins a fault; returns a function that ends it. */
  async #begin(scenario: Scenario, { process: child, proxy, server, env }: Member): Promise<() => void> {
    const begun = performance.now();
    const open = (): void => {
      proxy.fault = () => undefined;
    };
    switch (scenario) {
      case 'cut':
        proxy.fault = () => ({ cut: 'request' });
        proxy.cut();
        return open;
      case 'silent':
        proxy.fault = () => ({ lost: 'request' });
        return open;
      case 'deaf':
        proxy.fault = () => ({ lost: 'response' });
        return open;
      case 'late':
        proxy.fault = () => ({ delayMs: 2000 + 28_000 * Math.random() });
        return open;
      case 'stopped':
        child?.kill('SIGSTOP');
        return () => child?.kill('SIGCONT');
      case 'suspended':
        child?.kill('SIGSTOP');
        return () => {
          const file = env.SUSPENDED_FILE as string;
          writeFileSync(`${file}.new`, String(Math.round(performance.now() - begun)));
          renameSync(`${file}.new`, file);
          child?.kill('SIGCONT');
        };
      case 'killed':
        await server?.kill();
        return () => undefined;
      case 'released':
        await server?.stop();
        return () => undefined;
      default:
        return () => undefined;
    }
  }

  /** After another server has taken the lease, this one must reject all changes. */
  async #requireFenced(scenario: Scenario, { server }: Member): Promise<void> {
    await eventually(
      `${scenario}: the server that lost the lease is fenced`,
      async () => (await (await this.#create(server as Serving)).text()).includes('has been promoted'),
      60,
      100,
    );
  }

  /** Makes the clocks of some servers jump. */
  #jump(members: readonly Member[]): void {
    for (const { clock } of members) clock.set(farthest * (2 * Math.random() - 1));
  }

  async #member(): Promise<Member> {
    const { store } = this.options;
    const folder = join(this.#program.folder, String(this.#count++));
    mkdirSync(folder);
    const settings = `${folder}-settings`;
    mkdirSync(settings);
    const clock = new ProgramClock(settings);
    const suspended = join(settings, 'suspended');
    writeFileSync(suspended, '0');
    const fast = new URL('../support/fast-lease.mjs', import.meta.url);
    const env = {
      ...store.environment,
      ...clock.env,
      NODE_OPTIONS: `${clock.env.NODE_OPTIONS} --import ${fast}`,
      LEASE_SPEED: '1',
      SUSPENDED_FILE: suspended,
    };
    const proxy = await FaultyProxy.start(store.url);
    return { folder, proxy, clock, env, server: undefined, process: undefined, writing: Promise.resolve() };
  }

  /** Starts a follower with a copy of a running server. It runs no checkpoints. */
  async #copy({ folder }: Member): Promise<Member> {
    const next = await this.#member();
    const copy = join(next.folder, 'copies/1');
    mkdirSync(copy, { recursive: true });
    copyFileSync(join(folder, 'secret.key'), join(next.folder, 'secret.key'));
    for (const file of ['secret.key', 'tenantry.db', 'tenantry.db-wal'])
      if (existsSync(join(folder, file))) copyFileSync(join(folder, file), join(copy, file));
    return next;
  }

  #words({ folder, proxy }: Member): string[] {
    return ['--data', folder, '--lease-url', `s3://leases/${this.options.key}`, '--backup-s3-endpoint', proxy.url];
  }

  async #serve(member: Member): Promise<void> {
    const before = new Set(this.#program.running);
    const server = await this.#program.serve([...this.#words(member), '--replicated'], { env: member.env });
    member.server = server;
    member.process = [...this.#program.running].find((child) => !before.has(child));
    member.writing = this.#write(server, member);
  }

  async #remove(member: Member): Promise<void> {
    const { folder, proxy, server } = member;
    member.server = undefined;
    if (server && member.process?.exitCode === null && member.process.signalCode === null) await server.kill();
    await member.writing;
    await proxy.close();
    rmSync(folder, { recursive: true });
  }

  /** A client writes until the server is removed. */
  async #write(server: Serving, member: Member): Promise<void> {
    while (member.server !== undefined) {
      try {
        const response = await this.#create(server);
        await response.text();
      } catch {
        // The server was killed or has stopped.
      }
      await pause(writeMs);
    }
  }

  /** Creates a customer, and records it if it is acknowledged. */
  async #create(server: Serving): Promise<Response> {
    const response = await fetch(`${server.url}/api/customers/`, {
      method: 'POST',
      headers: { Authorization: `Token ${this.options.token}`, 'Content-Type': 'application/json' },
      body: '{"name":"Alice"}',
    });
    const epoch = Number(response.headers.get('X-Tenantry-Version')?.split('-')[0]);
    if (response.status === 201)
      this.acknowledged.push({ epoch, scenario: this.#scenario, from: iterations[0], until: performance.now() });
    else if ([408, 503].includes(response.status)) this.rejected++;
    else this.unexpected.push(`${response.status} ${await response.clone().text()}`);
    return response;
  }

  #note({ epoch, holder }: { readonly epoch: number; readonly holder: string | null }): void {
    const last = this.#terms.at(-1);
    if (holder !== null && holder !== last?.holder) this.#terms.push({ epoch, holder, at: performance.now() });
  }
}
