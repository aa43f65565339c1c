import * as assert from 'uvu/assert';
import { eventually } from '../../support/eventually.ts';
import { nativeCache, Program, type Serving } from '../../support/program.ts';
import type { Steps } from '../steps.ts';
import { Bucket, type Store } from './bucket.ts';

const fast = new URL('../../support/fast-lease.mjs', import.meta.url);

/** The lease in an object store. Its time runs five times as fast: the TTL is six seconds. */
export async function leaseSteps(steps: Steps, store: Store): Promise<void> {
  const step = <T>(name: string, work: () => Promise<T>): Promise<T> => steps.step(`${store.name}: ${name}`, work);
  const bucket = new Bucket(store, 'leases');
  const program = new Program(nativeCache);
  const env = { ...store.environment, NODE_OPTIONS: `--import ${fast}` };
  const settings = ['--lease-url', 's3://leases/prod/lease', '--backup-s3-endpoint', store.url];
  const serve = (): Promise<Serving> => program.serve(settings, { env });
  const lease = async () =>
    JSON.parse((await bucket.get('prod/lease')).toString()) as { epoch: number; holder: string | null; ttl: number };
  try {
    await bucket.create();
    assert.is((await program.run(['user', 'add', 'admin', '--staff', '--data', 'data'])).code, 0);
    const token = (await program.run(['token', 'admin', '--data', 'data'])).stdout.trim();
    const write = async (url: string): Promise<number> => {
      const headers = { Authorization: `Token ${token}`, 'Content-Type': 'application/json' };
      const response = await fetch(`${url}/api/customers/`, { method: 'POST', headers, body: '{"name":"Alice"}' });
      await response.text();
      return response.status;
    };
    const first = await step('a server acquires the lease by conditional writes', serve);
    assert.is(await write(first.url), 201);
    const { epoch } = await lease();
    await step('the lease is renewed, and released at the end', async () => {
      const before = (await bucket.get('prod/lease')).toString();
      await eventually('it is renewed', async () => (await bucket.get('prod/lease')).toString() !== before, 10, 100);
      await first.stop();
      assert.equal(await lease(), { epoch, holder: null, ttl: 0 });
    });
    await step('after a kill, the next start waits for the end of the lease', async () => {
      const second = await serve();
      await second.kill();
      const killed = performance.now();
      const third = await serve();
      assert.ok(performance.now() - killed > 5000);
      assert.equal([await write(third.url), (await lease()).epoch], [201, epoch + 2]);
    });
  } finally {
    await program.end();
  }
}
