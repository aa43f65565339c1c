/**
 * Runs commands of the built program one after another in a process that has already loaded it, in a tenth of the CPU time of a
 * new process. It is not the process of the test, so locks on data folders work as usual.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { compiled } from './compiled.ts';
import type { Ended } from './program.ts';
import { addCleanup, otherCpu } from './runner/cleanup.ts';

/** A command for the host: its arguments, working folder and environment. */
export interface Command {
  readonly words: readonly string[];
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Text to write to both streams after the output. */
  readonly endMark: string;
}

/** The result of a command. */
export interface CommandEnd {
  readonly code: number;
  /** CPU time of the host process in total. */
  readonly cpuSeconds: number;
}

/** Whether a command can share a process: it runs no server, reads no input, and its environment contains only settings. */
export function isHosted(words: readonly string[], env: Readonly<Record<string, string>> = {}): boolean {
  const needsStreams = words.includes('-') || ['export', 'import', 'listen', 'serve'].includes(words[0] ?? '');
  const isOfProgram = (name: string): boolean => /^(TENANTRY|AWS)_/.test(name) && name !== 'TENANTRY_NATIVE_CACHE';
  return process.platform === 'linux' && !needsStreams && Object.keys(env).every(isOfProgram);
}

class Host {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown[]>;
  readonly #texts = { stdout: '', stderr: '' };
  #cpuSeconds = 0;
  isUsable = true;

  constructor() {
    this.#child = fork(compiled(new URL('command-host-process.ts', import.meta.url)), {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: [],
    });
    this.#closed = once(this.#child, 'close').then((values) => {
      this.isUsable = false;
      // Wait for the process, so that its CPU time is counted.
      otherCpu.seconds -= this.#cpuSeconds;
      return values;
    });
    for (const stream of ['stdout', 'stderr'] as const)
      this.#child[stream]?.setEncoding('utf8').on('data', (text: string) => {
        this.#texts[stream] += text;
        this.#child.emit('text');
      });
  }

  async run(command: Omit<Command, 'endMark'>): Promise<Ended> {
    this.#keepAlive(true);
    Object.assign(this.#texts, { stdout: '', stderr: '' });
    const mark = `\0${crypto.randomUUID()}\n`;
    this.#child.send({ ...command, endMark: mark } satisfies Command);
    const ended = this.#ended(mark);
    const result = await Promise.race([ended, this.#closed.then(([code]) => ({ code: code as number | null }))]);
    const { stderr, stdout } = this.#texts;
    this.#keepAlive(false);
    return { ...result, stdout: stdout.replace(mark, ''), stderr: stderr.replace(mark, '') };
  }

  /** Resolves when the command has ended and its output has arrived. */
  async #ended(mark: string): Promise<{ code: number }> {
    const [{ code, cpuSeconds }] = (await once(this.#child, 'message')) as [CommandEnd];
    while (!this.#texts.stdout.endsWith(mark) || !this.#texts.stderr.endsWith(mark)) await once(this.#child, 'text');
    otherCpu.seconds += cpuSeconds - this.#cpuSeconds;
    this.#cpuSeconds = cpuSeconds;
    return { code };
  }

  /** An idle host must not keep the process alive. */
  #keepAlive(isBusy: boolean): void {
    const handles: unknown[] = [this.#child, this.#child.channel, this.#child.stdout, this.#child.stderr];
    for (const handle of handles as ({ ref(): void; unref(): void } | null | undefined)[])
      handle?.[isBusy ? 'ref' : 'unref']();
  }

  async end(): Promise<void> {
    if (!this.isUsable) return;
    this.#keepAlive(true);
    this.#child.disconnect();
    await this.#closed;
  }
}

/** Idle hosts. */
const idle: Host[] = [];
addCleanup(async () => void (await Promise.all(idle.map((host) => host.end()))));

/** Runs a command in an idle host or a new one, until it exits. */
export async function runHosted(words: readonly string[], folder: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  let host = idle.pop();
  while (host && !host.isUsable) host = idle.pop();
  host ??= new Host();
  const ended = await host.run({ words, folder, env });
  if (host.isUsable) idle.push(host);
  return ended;
}
