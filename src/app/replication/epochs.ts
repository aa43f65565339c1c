import { randomBytes } from 'node:crypto';
import type { App } from '../../kernel/app.ts';
import type { Call } from '../../kernel/http/call.ts';
import { versionOf } from './version.ts';

/*
 * Each promotion of a copy increments the epoch of its database. Servers with the same encryption keys report their epochs to
 * each other in a header, sealed with the keys. A message proves an epoch only to the server whose challenge it repeats. Each
 * server generates a new challenge at start, so a recorded message, or one for another server, proves nothing. Requests and
 * responses are sealed for different purposes, so that one cannot pass for the other.
 */

/** The header in which servers report their epochs. Never sent to clients nor forwarded from them. */
export const epochHeader = 'X-Tenantry-Epoch';

type Direction = 'epoch request' | 'epoch response';
type Deployment = Pick<App, 'db' | 'secrets'>;

/** Timeout of a response. */
const timeoutMs = 2000;

interface Message {
  readonly epoch: number;
  /** The challenge of the sender. */
  readonly challenge: string;
  /** The challenge of the receiver, if the sender knows it. */
  readonly repeated: string;
}

/** The epochs that a server and its peers report to each other. */
export class Epochs {
  readonly #challenge = randomBytes(16).toString('base64url');
  /** Challenges of other servers by URL. */
  readonly #challenges = new Map<string, string>();

  /** Returns the header for a request to a server. */
  header(deployment: Deployment, url: string): string {
    return this.#seal(deployment, 'epoch request', this.#challenges.get(url) ?? '');
  }

  /** Returns the epoch that a server's response proves; undefined if it proves none. */
  read(deployment: Deployment, url: string, header: unknown): number | undefined {
    const message = open(deployment, 'epoch response', header);
    if (message?.repeated !== this.#challenge) return undefined;
    this.#challenges.set(url, message.challenge);
    return message.epoch;
  }

  /** Adds the header to the response to a server that reports its epoch. Returns that epoch, and whether it is proven. */
  respond(deployment: Deployment, call: Call): { epoch: number; isProven: boolean } | undefined {
    const { message, outgoing } = call;
    const received = open(deployment, 'epoch request', message.headers[epochHeader.toLowerCase()]);
    if (!received) return undefined;
    outgoing.setHeader(epochHeader, this.#seal(deployment, 'epoch response', received.challenge));
    return { epoch: received.epoch, isProven: received.repeated === this.#challenge };
  }

  /** Requests the epoch of a server. Proves this server's epoch to it if that is higher. Rejects with a readable error. */
  async request(deployment: Deployment, url: string): Promise<number> {
    const known = this.#challenges.get(url);
    const epoch = await this.#send(deployment, url);
    if (epoch < versionOf(deployment.db).epoch && this.#challenges.get(url) !== known)
      await this.#send(deployment, url);
    return epoch;
  }

  async #send(deployment: Deployment, url: string): Promise<number> {
    const response = await fetch(url, {
      method: 'HEAD',
      headers: { [epochHeader]: this.header(deployment, url) },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const epoch = this.read(deployment, url, response.headers.get(epochHeader));
    if (epoch === undefined) throw new Error('it did not report the epoch of this data');
    return epoch;
  }

  #seal({ db, secrets }: Deployment, direction: Direction, repeated: string): string {
    const text = [versionOf(db).epoch, this.#challenge, repeated].join(' ');
    return secrets.seal(text, direction).toString('base64url');
  }
}

/** Decrypts a header from a server with the same keys; undefined for any other. */
function open({ secrets }: Deployment, direction: Direction, header: unknown): Message | undefined {
  if (typeof header !== 'string') return undefined;
  try {
    const [epoch, challenge = '', repeated = ''] = secrets.open(Buffer.from(header, 'base64url'), direction).split(' ');
    return { epoch: Number(epoch), challenge, repeated };
  } catch {
    return undefined;
  }
}
