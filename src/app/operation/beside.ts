/** Commands of the program that run beside the server, in processes of their own. */
import { spawn } from 'node:child_process';

/** How a command of the program is called. */
export interface ProgramCall {
  readonly file: string;
  /** What stands before the command. */
  readonly words: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/** How a command ended. */
interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Bytes that are kept of what a command prints. */
const mostPrinted = 64 * 1024;

/** Runs a command. Never rejects. */
export function runBeside({ environment, file, words }: ProgramCall, args: readonly string[]) {
  const child = spawn(file, [...words, ...args], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => {
      if (printed[name].length < mostPrinted) printed[name] += chunk.toString();
    });
  const ended = new Promise<Ended>((resolve) => {
    child.once('error', (error) => resolve({ code: null, stdout: '', stderr: error.message }));
    child.once('close', (code) => resolve({ code, ...printed }));
  });
  return { ended, stop: () => child.kill() };
}

/** The first line of what a command says went wrong, without the name of the program. */
export const failureOf = ({ code, stderr }: Ended): string =>
  (stderr.split('\n', 1)[0] ?? '').replace(/^tenantry: /, '') || `It ended with ${code}.`;
