/** core.md 3.1: the page for browsers at /, and its files. */
import * as assert from 'uvu/assert';
import { consolePage } from '../../../src/app/console/console.ts';
import { Fixture } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: pages, fixture } = suiteWithServer('the served console');
const asBrowser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

pages('serves browsers a page at /, whose policy allows only resources of this server', async () => {
  const { body, headers, status } = await fixture.anonymous.get('/', asBrowser);
  assert.equal([status, headers.get('content-type'), headers.get('vary')], [200, 'text/html; charset=utf-8', 'Accept']);
  assert.is(
    headers.get('content-security-policy'),
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  );
  assert.is(headers.get('cross-origin-opener-policy'), 'same-origin');
  assert.not.match(body, /<style|<script>|style=/);
  assert.match(body, '<title>Tenantry</title>');
});

pages('keeps the header short with a federation of many identity providers', () => {
  const policyFor = (count: number): string =>
    String(
      consolePage(
        'Tenantry',
        Array.from({ length: count }, (_, i) => `https://idp${i}.example.com`),
      ).headers['Content-Security-Policy'],
    );
  assert.match(policyFor(2), "form-action 'self' https://idp0.example.com https://idp1.example.com;");
  assert.match(policyFor(41), "form-action 'self' https:;");
});

pages('serves programs the description of the API there', async () => {
  const { body, headers } = await fixture.anonymous.get('/', { Accept: 'application/json' });
  assert.equal(Object.keys(body), ['name', 'version', 'api', 'docs']);
  assert.is(headers.get('vary'), 'Accept');
});

pages('uses only relative addresses of existing files, which browsers cache', async () => {
  const { body } = await fixture.anonymous.get('/', asBrowser);
  const addresses = [...body.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address]) => address);
  assert.equal(addresses, ['data:,', 'console/style.css', 'console/app.js', 'docs/']);
  for (const [address, type] of [
    ['console/style.css', 'text/css; charset=utf-8'],
    ['console/app.js', 'text/javascript; charset=utf-8'],
    ['console/et.js', 'text/javascript; charset=utf-8'],
  ] as const) {
    const file = await fixture.anonymous.get(`/${address}`, { 'Accept-Encoding': 'br' });
    assert.equal([file.status, file.headers.get('content-type')], [200, type]);
    assert.is(file.headers.get('content-encoding'), 'br');
    const again = await fixture.anonymous.get(`/${address}`, { 'If-None-Match': file.headers.get('etag') ?? '' });
    assert.is(again.status, 304);
  }
});

pages('escapes the product name', async () => {
  const other = await Fixture.start({ product_name: '<b>"Acme" & Co</b>' });
  const { body } = await other.anonymous.get('/', asBrowser);
  assert.match(body, '<title>&lt;b&gt;&quot;Acme&quot; &amp; Co&lt;/b&gt;</title>');
  await other.close();
});

pages('redirects browsers to the API documentation and serves no files with console_enabled off', async () => {
  const other = await Fixture.start({ console_enabled: false });
  const { headers, status } = await other.anonymous.get('/', asBrowser);
  assert.equal([status, headers.get('location')], [302, `${other.url}/docs/`]);
  for (const file of ['app.js', 'style.css', 'et.js'])
    assert.is((await other.anonymous.get(`/console/${file}`)).status, 404, file);
  await other.close();
});

pages('serves its files outside the API', async () => {
  const { paths } = (await fixture.anonymous.get('/docs/?format=openapi')).body;
  assert.equal(
    Object.keys(paths).filter((path) => path.startsWith('/console/')),
    [],
  );
});

pages.run();
