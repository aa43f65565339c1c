import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { pythonPrograms } from '../packages.ts';

/** A running moto, which implements EC2 and S3. */
export interface Moto {
  readonly url: string;
  /** The folder of its Python programs. */
  readonly programs: string;
  readonly end: () => Promise<void>;
}

/** Installs moto if it is missing, and starts its server on a free port. */
export async function startMoto(): Promise<Moto> {
  const programs = await pythonPrograms('moto');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(`${programs}/moto_server`, ['--host', '127.0.0.1', '--port', String(port)], { stdio: 'ignore' });
  try {
    await eventually('moto responds', () => isResponding(url), 60);
  } catch (error) {
    await end(server);
    throw error;
  }
  return { url, programs, end: () => end(server) };
}

/** Whether a server responds, with any status. */
export const isResponding = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

/** Ends a process if it is still running. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await closed;
}
