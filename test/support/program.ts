/** Runs the built program as a command. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isHosted, runHosted } from './command-host.ts';

export const builtProgram = fileURLToPath(new URL('../../dist/tenantry.mjs', import.meta.url));

/** Folder of unpacked addons and compiled code, which the programs of all tests share. */
export const nativeCache = fileURLToPath(new URL('../../dist/native', import.meta.url));

const usualCommand: readonly string[] = [process.execPath, builtProgram];

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Serving {
  readonly url: string;
  /** The log line that says where the server listens. */
  readonly startup: Readonly<Record<string, string>>;
  /** Returns the output on stderr. */
  readonly errors: () => string;
  readonly stop: () => Promise<number | null>;
  /** Kills the server. */
  readonly kill: () => Promise<void>;
}

/** Returns the result of a program that fails with this message. */
export const failed = (line: string, code = 1): Ended => ({ code, stdout: '', stderr: `tenantry: ${line}\n` });

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Buffer;
  /** Shell command to run first, such as `ulimit`. */
  readonly shell?: string;
}

/** Runs the program in a temporary folder. Settings come only from the arguments and options. */
export class Program {
  /** The working folder. Its folder `data` is the data folder. */
  readonly folder = mkdtempSync(join(tmpdir(), 'tenantry-program-'));
  readonly running = new Set<ChildProcess>();

  /**
   * `native` is the folder for unpacked addons, usually `nativeCache`; without it, the environment is empty. `command` starts the
   * program.
   */
  constructor(
    private readonly native: string | undefined,
    private readonly command: readonly string[] = usualCommand,
  ) {}

  /**
   * Runs the program until it exits. To save CPU time, most commands run in a process that has already loaded it. `isSeparate`,
   * input and a shell command start a new process.
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

  /** Starts the program, after the shell command if there is one. */
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
