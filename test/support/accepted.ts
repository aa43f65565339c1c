import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { eventually } from './eventually.ts';

const channel = 'net.server.socket';

/** Watches the connections that servers in this process accept: received bytes and closed connections. */
export class Accepted {
  readonly #sockets: Socket[] = [];
  readonly #note = (message: unknown): void => void this.#sockets.push((message as { readonly socket: Socket }).socket);

  constructor() {
    subscribe(channel, this.#note);
  }

  /** Waits until all connections together have received this many bytes. */
  bytes = (count: number): Promise<void> =>
    eventually(
      `${count} bytes are received`,
      () => this.#sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0) >= count,
    );

  /** Waits until this many connections are closed. */
  gone = (count: number): Promise<void> =>
    eventually(
      `${count} connections are closed`,
      () => this.#sockets.filter(({ destroyed }) => destroyed).length >= count,
    );

  stop(): void {
    unsubscribe(channel, this.#note);
  }
}
