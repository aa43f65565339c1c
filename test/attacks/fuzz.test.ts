/** A short form of `npm run chaos -- --only fuzz`: whatever is asked, no answer is a fault of the server. */
import * as assert from 'uvu/assert';
import { demo } from '../../src/app/demo/demo.ts';
import { fuzz } from '../chaos/fuzz.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test, fixture } = suiteWithServer('requests that nobody expects', {
  trusted_proxies: ['127.0.0.1'],
  resolve: (hostname, callback) => callback(new Error(`${hostname} has no address here`), []),
});

test('every operation answers what its description says, to everybody, with whatever values', async () => {
  await demo(fixture.server.app);
  const target = { url: fixture.url, token: fixture.server.issueToken() };
  // Tests share the machine with others: how long answers take is measured by the long form.
  const { responses, faults } = await fuzz({ target, requests: 1500, seed: 'short', slow: 10_000 });
  assert.equal(faults, []);
  // Otherwise nothing would have been tried.
  for (const status of ['200', '201', '202', '204', '400', '401', '403', '404', '405', '409'])
    assert.ok((responses[status] ?? 0) > 0, `no answer with ${status}`);
});

test.run();
