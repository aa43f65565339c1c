/** Runs Litestream, which is installed from PyPI. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonPrograms } from '../live/packages.ts';
import { eventually } from './eventually.ts';

const run = promisify(execFile);

/** Credentials for the S3 server, which accepts any. */
export const storeKeys = { LITESTREAM_ACCESS_KEY_ID: 'tenantry', LITESTREAM_SECRET_ACCESS_KEY: 'tenantry-secret' };
/** Without AWS_CA_BUNDLE: Litestream's S3 client rejects it. */
const { AWS_CA_BUNDLE: _, ...inherited } = process.env;
const env = { ...inherited, ...storeKeys };

/** Installs Litestream if it is missing. Returns its path. */
export const installLitestream = async (): Promise<string> => join(await pythonPrograms('litestream'), 'litestream');

/** Runs Litestream until it exits. Returns its output. Rejects if it fails. */
export async function litestream(...words: readonly string[]): Promise<string> {
  const { stdout } = await run(await installLitestream(), words, { env });
  return stdout;
}

/** A running Litestream. */
export interface Replicating {
  readonly process: ChildProcess;
  /** Returns its output. */
  readonly output: () => string;
}

/** Starts Litestream with a configuration file. Resolves when it has written its first snapshot. */
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
  return { process: child, output: () => output };
}

/** Sends a signal and waits for the process to exit. */
export async function endWithSignal(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
