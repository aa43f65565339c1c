/** Litestream from the Python package registry, and helpers for the drills that use it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonPrograms } from '../live/packages.ts';
import { eventually } from './eventually.ts';

const run = promisify(execFile);

/** The keys of the S3 server, which accepts any keys. */
export const storeKeys = { LITESTREAM_ACCESS_KEY_ID: 'tenantry', LITESTREAM_SECRET_ACCESS_KEY: 'tenantry-secret' };
/** Omit this machine's certificates, which Litestream's S3 client rejects. */
const { AWS_CA_BUNDLE: _, ...inherited } = process.env;
const env = { ...inherited, ...storeKeys };

/** Installs Litestream if it is missing. Returns its path. */
export const installLitestream = async (): Promise<string> => join(await pythonPrograms('litestream'), 'litestream');

/** Runs Litestream to its end; returns its output. Rejects if it fails. */
export async function litestream(...words: readonly string[]): Promise<string> {
  const { stdout } = await run(await installLitestream(), words, { env });
  return stdout;
}

/** A running Litestream. */
export interface Replicating {
  readonly process: ChildProcess;
  /** Its output. */
  readonly said: () => string;
}

/** Starts it with a configuration. Resolves when it has written its first complete copy. */
export async function replicate(config: string): Promise<Replicating> {
  const child = spawn(await installLitestream(), ['replicate', '-no-expand-env', '-config', config], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  await eventually(
    'Litestream has written its first copy',
    () => {
      if (child.exitCode !== null) throw new Error(`Litestream has ended: ${output}`);
      return output.includes('snapshot complete');
    },
    60,
    50,
  );
  return { process: child, said: () => output };
}

/** Ends a process with a signal. */
export async function endWithSignal(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
