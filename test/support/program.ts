/** The built program on the command line. `npm test` built it before. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isHosted, runHosted } from './command-host.ts';

export const builtProgram = fileURLToPath(new URL('../../dist/tenantry.mjs', import.meta.url));

/** The unpacked addons and compiled code of the programs of all tests: created once, as on a server. */
export const nativeCache = fileURLToPath(new URL('../../dist/native', import.meta.url));

const usualCommand: readonly string[] = [process.execPath, builtProgram];

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Serving {
  readonly url: string;
  /** The line it prints when it listens. */
  readonly startup: Readonly<Record<string, string>>;
  /** What it has written to stderr. */
  readonly errors: () => string;
  readonly stop: () => Promise<number | null>;
  /** Kills it. */
  readonly kill: () => Promise<void>;
}

/** The result of the program when it fails. */
export const failed = (line: string, code = 1): Ended => ({ code, stdout: '', stderr: `tenantry: ${line}\n` });

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Buffer;
  /** A line of shell before it, such as a limit. */
  readonly shell?: string;
}

/** Runs the program in a temporary folder; settings come only from the arguments and options. */
export class Program {
  /** The working folder, so that `data` in it is the data folder. */
  readonly folder = mkdtempSync(join(tmpdir(), 'tenantry-program-'));
  readonly running = new Set<ChildProcess>();

  /**
   * `native` is a folder for the unpacked addons, usually `nativeCache`; without it the environment is empty.
   * `command` starts the program.
   */
  constructor(
    private readonly native: string | undefined,
    private readonly command: readonly string[] = usualCommand,
  ) {}

  /**
   * Runs the program to its end. Most commands run in a process that has loaded the program before, which saves most of their CPU
   * time; `isSeparate` starts a process, as any command with input or a shell does.
   */
  async run(words: readonly string[], options: RunOptions & { readonly isSeparate?: boolean } = {}): Promise<Ended> {
    const { env, input, isSeparate, shell } = options;
    const isUsual = this.native === nativeCache && this.command === usualCommand;
    if (isUsual && !isSeparate && input === undefined && shell === undefined && isHosted(words, env))
      return runHosted(words, this.folder, this.#env(env));
    const child = this.start(words, options);
    const texts = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream]?.setEncoding('utf8').on('data', (text: string) => (texts[stream] += text));
    child.stdin?.end(options.input);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...texts };
  }

  /** Starts a server on a free port. */
  async serve(words: readonly string[] = [], options: RunOptions = {}): Promise<Serving> {
    const child = this.start(['serve', '--port', '0', '--log-level', 'warn', ...words], options);
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const [line] = (await Promise.race([
      once(createInterface(child.stdout as NodeJS.ReadableStream), 'line'),
      once(child, 'close'),
    ])) as [string | null];
    if (typeof line !== 'string') throw new Error(`the server did not listen: ${errors}`);
    const startup = JSON.parse(line) as Record<string, string>;
    return {
      url: startup.url as string,
      startup,
      errors: () => errors,
      stop: async () => {
        child.kill('SIGTERM');
        return ((await once(child, 'close')) as [number | null])[0];
      },
      kill: async () => {
        const closed = once(child, 'close');
        child.kill('SIGKILL');
        await closed;
      },
    };
  }

  /** Starts the program, after a line of shell if one is set. */
  start(words: readonly string[], { env, shell }: RunOptions = {}): ChildProcess {
    const behind = shell === undefined ? [] : ['sh', '-c', `${shell}; exec "$@"`, 'sh'];
    const [command = '', ...rest] = [...behind, ...this.command, ...words];
    const child = spawn(command, rest, { cwd: this.folder, env: this.#env(env) });
    this.running.add(child);
    child.on('close', () => this.running.delete(child));
    return child;
  }

  #env(more: RunOptions['env']): NodeJS.ProcessEnv {
    return { ...(this.native && { PATH: process.env.PATH, TENANTRY_NATIVE_CACHE: this.native }), ...more };
  }

  /** Kills running processes and removes the folder. */
  async end(): Promise<void> {
    for (const child of this.running) {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    rmSync(this.folder, { recursive: true });
  }
}
