import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { inNetworks, type Network, prefixOf } from '../net/networks.ts';
import { peerOf } from './origin.ts';

/** Maximum numbers of open connections (core.md 1.1 "Connections"). */
export interface ConnectionLimits {
  /** From all clients. */
  readonly all: number;
  /** From one network prefix. Trusted proxies and this machine are exempt. */
  readonly each: number;
}

/** Counts the connections of a server. Closes excess connections at once. */
export class Connections {
  readonly #counts = new Map<string, number>();
  /** Connections that have not sent a request yet. */
  readonly #silent = new Set<Socket>();
  /** The TCP connections below TLS connections, by remote address and port. */
  readonly #below = new Map<string, Socket>();

  constructor(
    private readonly limits: ConnectionLimits,
    private readonly proxies: readonly Network[],
  ) {}

  /** Watches the connections of a server. */
  watch(server: Server): void {
    server.maxConnections = this.limits.all;
    server.on('connection', (socket: Socket) => this.#admit(socket));
    server.on('secureConnection', (socket: Socket) => this.#secured(socket));
  }

  /** Returns the open TCP connection below a TLS connection. */
  below(socket: Socket): Socket | undefined {
    return this.#below.get(remoteEndOf(socket));
  }

  /** Records that a connection has sent a request. */
  requested(socket: Socket): void {
    this.#silent.delete(socket);
  }

  /** Closes connections without a request, which node:http does not treat as idle. */
  closeSilent(): void {
    for (const socket of this.#silent) socket.destroy();
  }

  #admit(socket: Socket): void {
    const peer = peerOf(socket);
    const prefix = isLocal(peer) || inNetworks(peer, this.proxies) ? undefined : prefixOf(peer);
    if (prefix !== undefined) {
      const count = (this.#counts.get(prefix) ?? 0) + 1;
      if (count > this.limits.each) {
        socket.destroy();
        return;
      }
      this.#counts.set(prefix, count);
    }
    this.#silent.add(socket);
    const end = remoteEndOf(socket);
    this.#below.set(end, socket);
    socket.once('close', () => {
      this.#silent.delete(socket);
      if (this.#below.get(end) === socket) this.#below.delete(end);
      if (prefix !== undefined) this.#leave(prefix);
    });
  }

  // After the key exchange, requests arrive on the encrypted connection.
  #secured(socket: Socket): void {
    const below = this.below(socket);
    if (below) this.#silent.delete(below);
    this.#silent.add(socket);
    socket.once('close', () => this.#silent.delete(socket));
  }

  #leave(prefix: string): void {
    const count = (this.#counts.get(prefix) ?? 0) - 1;
    if (count > 0) this.#counts.set(prefix, count);
    else this.#counts.delete(prefix);
  }
}

/** Returns the remote address and port, which a TLS connection shares with the TCP connection below it. */
const remoteEndOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

const isLocal = (address: string): boolean => address.startsWith('127.') || address === '::1';
