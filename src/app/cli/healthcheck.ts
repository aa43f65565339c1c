import { get, type IncomingMessage } from 'node:http';
import { join, resolve } from 'node:path';
import { addressOf, authorityOf, reachable, usualAdminAddress } from '../../kernel/config/address.ts';
import type { Config } from '../../kernel/config/config.ts';
import { plainReason } from '../../kernel/plain-reason.ts';
import { instanceOf } from '../operation/deployment.ts';
import type { Arguments } from './command-line.ts';

/** Milliseconds for the whole response, and its largest size in bytes. */
const timeoutMs = 5000;
const maxBytes = 65_536;

/**
 * `tenantry healthcheck`: reports whether the server of this data folder is ready. Rejects with a sentence when it is not, and
 * when the listener is that of another server or program.
 */
export async function checkHealth({ config, flags }: Arguments): Promise<void> {
  const expected = flags.ephemeral === true ? undefined : expectedInstance(resolve(config.data));
  const url = `http://${authorityOf(adminAddress(config))}/readyz`;
  const { body, status } = await read(url).catch((error: unknown) => {
    throw new Error(`${url} does not answer: ${plainReason(error)}`, { cause: error });
  });
  const { checks, instance, status: state } = objectIn(body);
  if (state !== 'ready' && state !== 'not ready')
    throw new Error(`not ready: ${url} is answered with ${status}, and not by Tenantry`);
  if (instance !== expected)
    throw new Error(`not ready: ${url} is answered by ${otherServer(instance, config, flags)}`);
  if (state === 'ready' && status === 200) {
    process.stdout.write('ready\n');
    return;
  }
  const wrong = Object.entries(checks ?? {}).filter(([, result]) => result !== 'ok');
  const reasons = wrong.map(([check, result]) => `${check}: ${result}`).join('; ');
  throw new Error(`not ready: ${reasons || `${url} is answered with ${status}`}`);
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
    ? `a server that does not keep its data in ${folder}`
    : `the server of another data folder than ${folder}`;
}

interface Response {
  readonly status: number;
  readonly body: string;
}

/** Reads a whole response. Rejects where there is none, one that breaks off, is too large, or takes too long. */
function read(url: string): Promise<Response> {
  let timer: NodeJS.Timeout | undefined;
  return new Promise<Response>((resolve, reject) => {
    let hasResponse = false;
    const request = get(url, { agent: false }, (message) => {
      hasResponse = true;
      textOf(message).then((body) => resolve({ status: message.statusCode ?? 0, body }), reject);
    });
    // It also keeps the process alive until it is known how the request ends.
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
  if (!message.complete) throw new Error('the response breaks off');
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

/** Where a server of these settings listens for its operator, called from this machine. Throws with a sentence. */
function adminAddress({ admin_listen: given }: Config): { host: string; port: number } {
  const address = given === null ? usualAdminAddress : addressOf(given);
  if (!address) throw new Error('admin_listen is off: nobody can ask the server');
  return { host: reachable(address.host), port: address.port };
}
