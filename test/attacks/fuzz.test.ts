/** A short form of `npm run chaos -- --only fuzz`: no request causes a server fault. */
import * as assert from 'uvu/assert';
import { fuzz } from '../chaos/fuzz.ts';
import { storeSampleData } from '../support/sample-data.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test, fixture } = suiteWithServer('random requests', {
  trusted_proxies: ['127.0.0.1'],
  resolve: (hostname, callback) => callback(new Error(`${hostname} has no address here`), []),
});

test('returns what the OpenAPI document describes, for any caller and any values', async () => {
  storeSampleData(fixture);
  const target = { url: fixture.url, token: fixture.server.issueToken() };
  // Only the long form measures response times, because tests share the machine.
  const { responses, faults } = await fuzz({ target, requests: 1500, seed: 'short', slow: 10_000 });
  assert.equal(faults, []);
  // Without this, the requests might test nothing.
  for (const status of ['200', '201', '202', '204', '400', '401', '403', '404', '405', '409'])
    assert.ok((responses[status] ?? 0) > 0, `no response with ${status}`);
});

test.run();
