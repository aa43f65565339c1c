/** Helpers of the parts: clients that record acknowledged writes and check them later, and kills of a program. */
import { once } from 'node:events';
import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ended, Program, Serving } from '../support/program.ts';

/** Maximum page size. */
const page = 200;

/** Returns the duration of an undisturbed command in milliseconds. Throws if the command fails. */
export async function durationOf(program: Program, words: readonly string[]): Promise<number> {
  const begun = performance.now();
  requireEnded(await program.run(words), words);
  return performance.now() - begun;
}

/** Throws unless a command has exited with 0. */
export function requireEnded({ code, stderr }: Ended, words: readonly string[]): void {
  if (code !== 0) throw new Error(`tenantry ${words.join(' ')} ended with ${code}: ${stderr}`);
}

/**
 * Kills a command at a random moment within this many milliseconds after its start, or after its first change of this file.
 * Returns whether it was still running.
 */
export async function killAtRandom(
  program: Program,
  words: readonly string[],
  longest: number,
  file?: string,
): Promise<boolean> {
  const watching = new AbortController();
  const begun = file === undefined ? undefined : changed(file, watching.signal);
  const child = program.start(words);
  const ended = once(child, 'close');
  await Promise.race([ended, begun]);
  await Promise.race([ended, pause(longest * Math.random())]);
  watching.abort();
  child.kill('SIGKILL');
  const [, signal] = await ended;
  return signal === 'SIGKILL';
}

/** Resolves when a file is created or changed in an existing folder. */
function changed(file: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    watch(dirname(file), { signal }, (_event, name) => {
      if (name === basename(file)) resolve();
    });
  });
}

/** Throws unless doctor reports no problem, or only the expected ones. */
export async function requireHealthy(program: Program, folder = 'data', right = 'no problems\n'): Promise<void> {
  const { code, stderr, stdout } = await program.run(['doctor', '--data', folder]);
  if (code !== 0 || stdout !== right) throw new Error(`doctor ended with ${code}: ${stdout}${stderr}`);
}

/** A staff user that creates customers and records which of them were acknowledged. */
export class Observer {
  /** Names of acknowledged customers, by uuid. */
  readonly acknowledged: Map<string, string>;
  /** Number of responses other than 201, by status. */
  readonly rejected = new Map<number, number>();

  constructor(
    readonly token: string,
    acknowledged: ReadonlyMap<string, string> = new Map(),
  ) {
    this.acknowledged = new Map(acknowledged);
  }

  /** Creates an observer with the user admin, who must exist in the folder. */
  static async of(program: Program, folder = 'data'): Promise<Observer> {
    const words = ['token', 'admin', '--data', folder];
    const ended = await program.run(words);
    requireEnded(ended, words);
    return new Observer(ended.stdout.trim());
  }

  async get(url: string): Promise<Response> {
    return fetch(url, { headers: { Authorization: `Token ${this.token}` }, redirect: 'manual' });
  }

  /** Creates a customer, and records it if it is acknowledged. */
  async write(url: string): Promise<Response> {
    const name = `Customer ${Math.random()}`;
    const response = await fetch(`${url}/api/customers/`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'Content-Type': 'application/json', Authorization: `Token ${this.token}` },
      body: JSON.stringify({ name }),
    });
    const { uuid } = (await response.clone().json()) as { uuid?: string };
    if (response.status === 201 && uuid !== undefined) this.acknowledged.set(uuid, name);
    else this.rejected.set(response.status, (this.rejected.get(response.status) ?? 0) + 1);
    return response;
  }

  /**
   * Several clients write until the server is killed at a random moment, within this many milliseconds after the first
   * acknowledged write, however long that takes.
   */
  async writeUntilKilled(server: Serving, longest: number): Promise<void> {
    let isKilled = false;
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const clients = Array.from({ length: 3 }, async () => {
      while (!isKilled)
        await this.write(server.url).then(begin, (error: unknown) => {
          if (!isKilled) throw error;
        });
    });
    const writing = Promise.all(clients);
    await Promise.race([writing, begun.then(() => pause(longest * Math.random()))]);
    isKilled = true;
    await server.kill();
    await writing;
  }

  /** Throws unless the server returns every acknowledged customer, with its name. */
  async requireAll(url: string): Promise<void> {
    const present = await this.customers(url);
    for (const [uuid, name] of this.acknowledged)
      if (present.get(uuid) !== name)
        throw new Error(`The customer ${uuid}, acknowledged as ${name}, is ${present.get(uuid) ?? 'lost'}`);
  }

  /** Returns the names of all customers by uuid. */
  async customers(url: string): Promise<Map<string, string>> {
    const all = new Map<string, string>();
    for (let number = 1; ; number++) {
      const response = await this.get(
        `${url}/api/customers/?field=uuid&field=name&o=name&page_size=${page}&page=${number}`,
      );
      if (response.status === 404 && number > 1) return all;
      if (response.status !== 200) throw new Error(`The list of customers returned ${response.status}`);
      const rows = (await response.json()) as { uuid: string; name: string }[];
      for (const { name, uuid } of rows) all.set(uuid, name);
      if (rows.length < page) return all;
    }
  }
}
