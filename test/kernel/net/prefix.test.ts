import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inNetworks, parseNetworks, prefixOf, siteOf } from '../../../src/kernel/net/networks.ts';

const test = suite('prefixes of client addresses');

const forms: readonly (readonly [address: string, prefix: string, site: string | undefined])[] = [
  ['192.0.2.7', '192.0.2.7', undefined],
  ['::ffff:192.0.2.7', '192.0.2.7', undefined],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['fe80::1%eth0', 'fe80::/64', 'fe80::/48'],
  ['::1', '::/64', '::/48'],
  ['', '', undefined],
  ['nowhere', 'nowhere', undefined],
];

for (const [address, prefix, site] of forms)
  test(`"${address}" counts as "${prefix}"`, () => {
    assert.equal([prefixOf(address), siteOf(address)], [prefix, site]);
  });

test('an IPv4 address lies in its network, also if either is mapped into IPv6', () => {
  const has = (network: string, address: string): boolean => inNetworks(address, parseNetworks([network]));
  for (const network of ['10.0.0.0/8', '::ffff:10.0.0.0/104', '::ffff:a00:0/104']) {
    assert.ok(has(network, '10.1.2.3'), network);
    assert.ok(has(network, '::ffff:10.1.2.3'), network);
    assert.not.ok(has(network, '11.1.2.3'), network);
    assert.not.ok(has(network, '2001:db8::1'), network);
  }
  assert.ok(has('::ffff:10.1.2.3', '10.1.2.3'));
  assert.not.ok(has('::/0', '10.1.2.3'), 'a network of IPv6 has no IPv4 addresses');
});

test.run();
