/** Invalid Host headers (core.md 1.3). */
import * as assert from 'uvu/assert';
import { Fixture } from '../support/fixture.ts';
import { suiteWithServer } from '../support/suite.ts';
import { sendOverWire } from '../support/wire.ts';

const { test: hosts, fixture } = suiteWithServer('hosts');

const invalid = [400, { detail: 'Invalid Host header.' }];
const linksOf = async (server: Fixture, target: string, ...lines: readonly string[]) => {
  const { status, body } = await sendOverWire(server.url, `GET ${target} HTTP/1.1`, ...lines, '');
  return [status, JSON.parse(body)];
};

hosts('responds 400 to a Host that is not the host of a URL wherever links are read or written', async () => {
  const token = `Authorization: Token ${fixture.staff.token}`;
  for (const host of ['1.2.3.999', 'localhost:99999', 'xn--a', '[1::2::3]', '256.256.256.256', '0x100000000'])
    for (const target of [
      '/api/customers/',
      '/api/alerts/?scope=/api/customers/00000000000000000000000000000000/',
      '/api/projects/?customer=/api/customers/00000000000000000000000000000000/',
      '/api-auth/saml2/metadata/',
      '/docs/',
    ])
      assert.equal(
        [host, target, ...(await linksOf(fixture, target, `Host: ${host}`, token))],
        [host, target, ...invalid],
      );
});

hosts('responds 400 to several Host headers', async () => {
  assert.equal(await linksOf(fixture, '/api/version/', 'Host: a', 'Host: a'), invalid);
  assert.equal(await linksOf(fixture, '/api/version/', 'Host: a', 'hOsT: b'), invalid);
  assert.equal(await linksOf(fixture, 'http://c/api/version/', 'Host: a', 'Host: b'), invalid);
});

hosts('checks Host the same way with base_url, and checks the host that a trusted proxy forwards', async () => {
  const proxied = await Fixture.start({ base_url: 'https://cloud.example.com', trusted_proxies: ['127.0.0.1'] });
  assert.equal(await linksOf(proxied, '/api/version/', 'Host: 1.2.3.999'), invalid);
  assert.equal(await linksOf(proxied, '/api/version/', 'X-Forwarded-Host: good'), invalid);
  assert.equal(await linksOf(proxied, '/api/version/', 'Host: good', 'X-Forwarded-Host: xn--a'), invalid);
  assert.is((await linksOf(proxied, '/api/version/', 'Host: good', 'X-Forwarded-Host: fine'))[0], 200);
  await proxied.close();
});

hosts.run();
