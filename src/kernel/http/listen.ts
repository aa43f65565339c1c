import type { Server } from 'node:net';
import type { Address } from '../config/address.ts';
import { codeOf } from '../present.ts';

/** Why a port cannot be had, in words for the operator. */
const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
};

/** Starts a listener; returns its address. Rejects with a sentence when that is impossible. */
export function listenOn(server: Server, { host, port }: Address): Promise<{ address: string; port: number }> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      const problem = listenProblems[String(codeOf(error))] ?? error.message;
      reject(new Error(`cannot listen on ${host} port ${port}: ${problem}`, { cause: error }));
    };
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      const address = server.address();
      // Not of a server that listens on a port.
      if (address === null || typeof address === 'string') throw new Error('the server has no port');
      resolve(address);
    });
  });
}
