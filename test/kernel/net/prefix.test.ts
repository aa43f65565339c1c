import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { prefixOf, siteOf } from '../../../src/kernel/net/networks.ts';

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

test.run();
