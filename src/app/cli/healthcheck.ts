import { get, type IncomingMessage } from 'node:http';
import { join, resolve } from 'node:path';
import { addressOf, authorityOf, reachable, usualAdminAddress } from '../../kernel/config/address.ts';
import type { Config } from '../../kernel/config/config.ts';
import { plainReason } from '../../kernel/present.ts';
import { instanceOf } from '../data/data-folder.ts';
import type { Arguments } from './command-line.ts';

/** Timeout and maximum size of the response. */
const timeoutMs = 5000;
const maxBytes = 65_536;

/**
 * `tenantry healthcheck`: checks that the server of this data folder is ready. Rejects with a readable error if it is not, or if
 * another server or program responds.
 */
export async function checkHealth({ config, flags }: Arguments): Promise<void> {
  const expected = flags.ephemeral === true ? undefined : expectedInstance(resolve(config.data));
  const url = `http://${authorityOf(adminAddress(config))}/readyz`;
  const { body, status } = await read(url).catch((error: unknown) => {
    throw new Error(`no response from ${url}: ${plainReason(error)}`, { cause: error });
  });
  const { checks, instance, status: state } = objectIn(body);
  if (state !== 'ready' && state !== 'not ready')
    throw new Error(`not ready: ${url} responds with ${status} and is not Tenantry`);
  if (instance !== expected) throw new Error(`not ready: ${url} belongs to ${otherServer(instance, config, flags)}`);
  if (state === 'ready' && status === 200) {
    process.stdout.write('ready\n');
    return;
  }
  const failed = Object.entries(checks ?? {}).filter(([, result]) => result !== 'ok');
  const reasons = failed.map(([check, result]) => `${check}: ${result}`).join('; ');
  throw new Error(`not ready: ${reasons || `${url} responds with ${status}`}`);
}

function expectedInstance(folder: string): string {
  try {
    return instanceOf(folder);
  } catch (error) {
    throw new Error(
      `cannot read the data folder ${folder}: ${plainReason(error, join(folder, '/'))}; name it with --data`,
      { cause: error },
    );
  }
}

function otherServer(instance: unknown, config: Config, flags: Arguments['flags']): string {
  if (flags.ephemeral === true) return 'a server with a data folder';
  const folder = resolve(config.data);
  return instance === undefined
    ? `a server without the data folder ${folder}`
    : `a server with a data folder other than ${folder}`;
}

interface Response {
  readonly status: number;
  readonly body: string;
}

/** Reads a whole response. Rejects if it is missing, incomplete, too large or too late. */
function read(url: string): Promise<Response> {
  let timer: NodeJS.Timeout | undefined;
  return new Promise<Response>((resolve, reject) => {
    let hasResponse = false;
    const request = get(url, { agent: false }, (message) => {
      hasResponse = true;
      textOf(message).then((body) => resolve({ status: message.statusCode ?? 0, body }), reject);
    });
    // The timer also keeps the process alive until the request ends.
    timer = setTimeout(() => {
      reject(new Error(`no response within ${timeoutMs / 1000} seconds`));
      request.destroy();
    }, timeoutMs);
    request.on('error', reject);
    request.on('close', () => {
      if (!hasResponse) reject(new Error('the connection was closed'));
    });
  }).finally(() => clearTimeout(timer));
}

async function textOf(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of message) {
    size += part.length;
    if (size > maxBytes) throw new Error('the response is too large');
    parts.push(part);
  }
  if (!message.complete) throw new Error('the response is incomplete');
  return Buffer.concat(parts).toString();
}

function objectIn(body: string): Partial<Readonly<Record<'status' | 'instance' | 'checks', unknown>>> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Returns the address of the operator's port from this machine. Throws a readable error. */
function adminAddress({ admin_listen: address }: Config): { host: string; port: number } {
  const parsed = address === null ? usualAdminAddress : addressOf(address);
  if (!parsed) throw new Error('admin_listen is off, so the server has no health check');
  return { host: reachable(parsed.host), port: parsed.port };
}
