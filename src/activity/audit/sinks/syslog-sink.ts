import { connect, isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { connect as connectTls } from 'node:tls';
import { minute } from '../../../kernel/clock.ts';
import { allowedLookup, explained, NoResponseError } from '../../../kernel/net/http-client.ts';
import type { Resolver } from '../../../kernel/net/resolver.ts';
import { hostOf } from '../../../kernel/url.ts';
import type { Batch, Sink, SinkRecord } from './sink.ts';

/** Timeout for connecting, and for sending a batch. */
const timeout = 10_000;

/** Idle time before a connection is probed. */
const keepAliveDelay = 60_000;

const ports: Readonly<Record<string, number>> = { 'tcp:': 514, 'tls:': 6514 };

/** Facility "log audit" (RFC 5424, 6.2.1), and severities: informational, and warning for rejections. */
const facility = 13;
const severities = { done: 6, refused: 4 };

/** Reduces a text to printable ASCII without spaces, as a message header requires; `-` if nothing is left. */
const headerText = (text: string, maxLength: number): string =>
  text.replace(/[^\x21-\x7e]/g, '_').slice(0, maxLength) || '-';

/** Returns a record as an RFC 5424 message, prefixed with its length (RFC 6587, 3.4.1). */
function frameOf({ at, line, operation, outcome }: SinkRecord): Buffer {
  const priority = facility * 8 + severities[outcome];
  const header = `<${priority}>1 ${at} ${headerText(hostname(), 255)} tenantry ${process.pid} ${headerText(operation, 32)} -`;
  const message = Buffer.from(`${header} ${line}`);
  return Buffer.concat([Buffer.from(`${message.length} `), message]);
}

/** `audit_syslog`: sends records on one connection. Syslog has no responses, so data on a broken connection may be lost. */
export class SyslogSink implements Sink {
  readonly name = 'syslog';
  readonly maxRetryDelay = 5 * minute;
  #socket: Socket | undefined;

  constructor(
    private readonly url: URL,
    private readonly resolve: Resolver,
  ) {}

  async send({ records }: Batch): Promise<void> {
    const socket = this.#socket?.destroyed === false ? this.#socket : await this.#connect();
    const frames = Buffer.concat(records.map(frameOf));
    await settled(socket, (done) => socket.write(frames, () => done()));
  }

  close(): void {
    this.#socket?.destroySoon();
  }

  async #connect(): Promise<Socket> {
    const host = hostOf(this.url);
    const { port, protocol } = this.url;
    const lookup = allowedLookup(this.resolve, () => true);
    const options = { host, port: port === '' ? (ports[protocol] ?? 0) : Number(port), lookup };
    const isSecure = protocol === 'tls:';
    const socket = isSecure
      ? connectTls({ ...options, ...(isIP(host) === 0 && { servername: host }) })
      : connect(options);
    this.#socket = socket;
    socket.setKeepAlive(true, keepAliveDelay);
    // The end of a connection is reported only after received data is consumed.
    socket.resume();
    socket.on('error', () => undefined);
    await settled(socket, (done) => socket.once(isSecure ? 'secureConnect' : 'connect', done));
    return socket;
  }
}

/** Resolves when `begin` calls `done`. On failure or timeout, closes the connection and rejects with a readable error. */
function settled(socket: Socket, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      clearTimeout(timer);
      socket.off('error', settle).off('close', close);
      if (error) {
        socket.destroy();
        reject(explained(error));
      } else resolve();
    };
    const close = (): void => settle(new NoResponseError('The connection was closed.'));
    const late = new NoResponseError(`The receiver took longer than ${timeout / 1000} seconds.`);
    const timer = setTimeout(() => settle(late), timeout);
    socket.on('error', settle).on('close', close);
    begin(() => settle());
  });
}
