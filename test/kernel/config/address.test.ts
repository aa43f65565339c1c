/** Addresses on which the server listens for its operator (core.md 14.1). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadConfig } from '../../../src/app/settings.ts';
import { addressOf, authorityOf, reachable, usualAdminAddress } from '../../../src/kernel/config/address.ts';

const test = suite('addresses');

test('listens on the loopback address by default and with a port alone', () => {
  assert.equal(addressOf('9481'), { host: '127.0.0.1', port: 9481 });
  assert.equal(usualAdminAddress, { host: '127.0.0.1', port: 9480 });
});

test('accepts a host with a port and an IPv6 address in brackets', () => {
  for (const [text, host, port] of [
    ['0.0.0.0:0', '0.0.0.0', 0],
    ['admin.internal:65535', 'admin.internal', 65_535],
    ['[::1]:9480', '::1', 9480],
  ] as const) {
    assert.equal(addressOf(text), { host, port });
    assert.is(authorityOf({ host, port }), text);
  }
});

test('rejects anything else, with the name of the setting', () => {
  const rule = 'must be off, a port, or a host with a port such as 127.0.0.1:9480 or [::1]:9480';
  for (const text of [
    '65536',
    '127.0.0.1',
    '::1:9480',
    '[::1]',
    '[localhost]:1',
    'a:b:1',
    'http://a:1',
    '-1',
    'on',
    'a:',
  ])
    assert.throws(
      () => loadConfig({ options: { admin_listen: text } }),
      ({ message }: Error) => message === `--admin-listen ${rule}`,
      text,
    );
  assert.is(loadConfig({ options: { admin_listen: 'off' } }).admin_listen, 'off');
  assert.is(loadConfig({ input: { admin_listen: '9481' } }).admin_listen, '127.0.0.1:9481');
  assert.is(loadConfig().admin_listen, null);
});

test('reaches a server that listens on all addresses by the loopback address', () => {
  assert.equal(['0.0.0.0', '::', '10.0.0.1'].map(reachable), ['127.0.0.1', '::1', '10.0.0.1']);
});

test.run();
