import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HostLimits } from '../../../src/activity/hooks/host-limits.ts';

const test = suite('limits of hosts');
const limits = new HostLimits({ hooks_allowed_networks: ['10.0.0.0/8', '::1'] }, (_, callback) =>
  callback(null, [{ address: '::ffff:10.0.0.7', family: 6 }]),
);

test('a host has one limit, whatever scheme, port, path and spelling a URL has', () => {
  const limit = limits.of('https://example.com/');
  assert.ok(limit);
  for (const url of ['http://example.com/', 'https://EXAMPLE.com:8443/in?a=b', 'https://example.com./'])
    assert.is(limits.of(url), limit, url);
  assert.is.not(limits.of('https://www.example.com/'), limit);
  const address = limits.of('http://93.184.216.34/');
  for (const host of [
    '1572395042',
    '0x5db8d822',
    '[::ffff:93.184.216.34]',
    '[64:ff9b::93.184.216.34]',
    '[2002:5db8:d822::1]',
  ])
    assert.is(limits.of(`http://${host}:8080/`), address, host);
});

test('hosts in allowed networks have no limit, in any notation of their address', () => {
  for (const host of ['10.1.2.3', '[::ffff:10.1.2.3]', '[::1]'])
    assert.is(limits.of(`http://${host}/`), undefined, host);
  assert.ok(limits.of('http://own.example.com/'));
  limits.resolve('own.example.com', () => undefined);
  assert.is(limits.of('http://own.example.com/'), undefined);
});

test.run();
