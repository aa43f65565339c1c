/*
 * The receiver of webhooks, a separate process: responds immediately and stores the age of each event. It replies to a message
 * `report` with the deliveries since the last one.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The received deliveries. */
export interface Deliveries {
  readonly count: number;
  /** From the first to the last. */
  readonly seconds: number;
  /** Milliseconds from the event to its arrival. */
  readonly p50: number;
  readonly p95: number;
}

let latencies: number[] = [];
let first = 0;
let last = 0;

const server = createServer((incoming, outgoing) => {
  let body = '';
  incoming.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
  incoming.on('end', () => {
    last = performance.timeOrigin + performance.now();
    if (latencies.length === 0) first = last;
    latencies.push(last - Date.parse(`${body.slice(14, 40)}Z`));
    outgoing.end();
  });
});

process.on('message', () => {
  const sorted = Float64Array.from(latencies).sort();
  const quantile = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  process.send?.({
    count: sorted.length,
    seconds: (last - first) / 1000,
    p50: quantile(0.5),
    p95: quantile(0.95),
  } satisfies Deliveries);
  latencies = [];
});

server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }),
);
