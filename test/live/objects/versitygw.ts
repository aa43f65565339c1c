import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { end, isResponding } from '../moto/server.ts';
import { goInstalled } from '../packages.ts';
import type { Store } from './bucket.ts';

const version = 'v1.8.0';

/** A running Versity S3 Gateway, which stores objects as files. */
export interface VersityGateway {
  readonly url: string;
  readonly end: () => Promise<void>;
}

/** Builds the gateway if it is missing, and starts it on a free port. It needs a file system with extended attributes. */
export async function startVersityGateway({
  AWS_ACCESS_KEY_ID: access,
  AWS_SECRET_ACCESS_KEY: secret,
}: Store['environment']): Promise<VersityGateway> {
  const program = await goInstalled('github.com/versity/versitygw/cmd/versitygw', version);
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-objects-'));
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  const credentials = ['--access', access, '--secret', secret];
  const server = spawn(program, [...credentials, '--port', address, '--quiet', 'posix', folder], { stdio: 'ignore' });
  const stop = async (): Promise<void> => {
    await end(server);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await eventually('the gateway responds', () => isResponding(url), 60);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, end: stop };
}
