import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { end, isResponding, startMoto } from '../moto/server.ts';
import { goInstalled } from '../packages.ts';
import type { Store } from './bucket.ts';

const environment = { AWS_ACCESS_KEY_ID: 'tenantry', AWS_SECRET_ACCESS_KEY: 'tenantry-secret' };

interface Server {
  readonly url: string;
  readonly end: () => Promise<void>;
}

/** A Go program that stores objects in a folder. */
interface Program {
  readonly path: string;
  readonly version: string;
  readonly wordsFor: (address: string, folder: string) => readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const programs: Readonly<Record<string, Program>> = {
  // Needs a file system with extended attributes.
  versitygw: {
    path: 'github.com/versity/versitygw/cmd/versitygw',
    version: 'v1.8.0',
    wordsFor: (address, folder) => ['--port', address, '--quiet', 'posix', folder],
    env: {
      ROOT_ACCESS_KEY_ID: environment.AWS_ACCESS_KEY_ID,
      ROOT_SECRET_ACCESS_KEY: environment.AWS_SECRET_ACCESS_KEY,
    },
  },
  minio: {
    path: 'github.com/minio/minio',
    version: 'v0.0.0-20260212201848-7aac2a2c5b7c',
    wordsFor: (address, folder) => [
      'server',
      '--quiet',
      '--address',
      address,
      '--console-address',
      '127.0.0.1:0',
      folder,
    ],
    env: { MINIO_ROOT_USER: environment.AWS_ACCESS_KEY_ID, MINIO_ROOT_PASSWORD: environment.AWS_SECRET_ACCESS_KEY },
  },
};

/** The object stores, each with a function that installs it if it is missing and starts it on a free port. */
export const stores: Readonly<Record<string, () => Promise<Store & Server>>> = {
  moto: async () => ({ ...(await startMoto()), name: 'moto', environment, verifiesSignatures: false }),
  ...Object.fromEntries(
    Object.entries(programs).map(([name, program]) => [
      name,
      async () => ({ ...(await startProgram(program)), name, environment, verifiesSignatures: true }),
    ]),
  ),
};

/** Builds a program if it is missing, and starts it. */
async function startProgram({ env, path, version, wordsFor }: Program): Promise<Server> {
  const program = await goInstalled(path, version);
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-objects-'));
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  const server = spawn(program, wordsFor(address, folder), { stdio: 'ignore', env: { ...process.env, ...env } });
  const stop = async (): Promise<void> => {
    await end(server);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await eventually(`${program} responds`, () => isResponding(url), 60);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, end: stop };
}
