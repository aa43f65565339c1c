/** A change whose acknowledgement takes longer than the lease, tested on the listener alone (core.md 14.8). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Result } from '../../../src/kernel/http/call.ts';
import { HttpServer } from '../../../src/kernel/http/http-server.ts';
import { json } from '../../../src/kernel/http/reply.ts';
import { openLog } from '../../../src/kernel/log.ts';
import { RequestCounts } from '../../../src/kernel/metrics/metrics.ts';

const test = suite('a change that may no longer be acknowledged');
const result = (status: number, text = ''): Result => ({
  reply: json({ status, text }, status),
  allow: '',
  route: '/',
  caller: undefined,
});

test('is rejected although it was saved, while reads and rejected changes get their responses', async () => {
  let hasLapsed = false;
  let asked = 0;
  const server = new HttpServer({
    admit: () => ({ bodyLimit: 10, holder: '', description: { allow: '', route: '/', caller: undefined } }),
    // The change is saved before this resolves, and the lease expires meanwhile.
    respond: async ({ method }) => {
      // Compressing the response takes longer than the rest of the lease.
      if (method === 'PATCH') return result(200, 'long'.repeat(1000));
      await new Promise((resolve) => setTimeout(resolve, 5));
      hasLapsed = true;
      return result(method === 'PUT' ? 400 : 200);
    },
    afterCommit: (callback) => callback(),
    commitError: () => (hasLapsed || asked++ > 0 ? new Error('too late') : undefined),
    unsaved: (_, error) => result((error as Error).message === 'too late' ? 503 : 500),
    bodyBudget: 100,
    connections: { all: 10, each: 10 },
    keepAlive: 1_000_000,
    baseUrl: null,
    trustedProxies: [],
    allowedOrigins: [],
    log: openLog('silent').log,
    counts: new RequestCounts(),
  });
  const url = `http://127.0.0.1:${await server.listen('127.0.0.1', 0)}/`;
  try {
    const statusOf = async (method: string): Promise<number> => {
      [hasLapsed, asked] = [false, 0];
      return (await fetch(url, { method })).status;
    };
    assert.equal([await statusOf('POST'), await statusOf('GET'), await statusOf('PUT')], [503, 200, 400]);
    assert.equal([await statusOf('PATCH'), asked], [503, 2]);
  } finally {
    await server.close(0);
  }
});

test.run();
