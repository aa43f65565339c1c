/*
 * The mail server of the benchmark, a separate process: accepts every mail immediately and stores when each number that the
 * mails name arrived. It replies to a message `report` with these instants.
 */
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** Milliseconds since 1970 of the first mail about each number. */
export type Arrivals = readonly (readonly [number: number, at: number])[];

const arrivals = new Map<number, number>();

const server = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  logger: false,
  onData: (stream, _session, done) => {
    let text = '';
    stream.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    stream.on('end', () => {
      const at = performance.timeOrigin + performance.now();
      for (const [, number] of text.matchAll(/Alert (\d+)/g))
        if (!arrivals.has(Number(number))) arrivals.set(Number(number), at);
      done();
    });
  },
});

process.on('message', () => process.send?.([...arrivals] satisfies Arrivals));
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.server.address() as AddressInfo).port }));
