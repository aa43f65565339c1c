/** Single sign-on in the built program. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Client } from '../support/fixture.ts';
import { freePort } from '../support/free-port.ts';
import { oidcSettings, tokenOf } from '../support/oidc-fixture.ts';
import { Jar, OpenIdProvider } from '../support/openid-provider.ts';
import { Program } from '../support/program.ts';
import { Files } from '../support/saml-fixture.ts';
import { SamlProvider, wordsOf } from '../support/saml-login.ts';

const test = suite('single sign-on of the one-file build');

test('serves with SAML2 and logs a user in at an identity provider', async () => {
  const saml = await SamlProvider.start();
  const program = new Program(undefined);
  try {
    const server = await program.serve(saml.words);
    const { registration_method, username } = await saml.logIn(server.url, 'mari');
    assert.equal([username, registration_method], ['mari', 'saml2']);
    assert.is(await server.stop(), 0);
  } finally {
    await program.end();
    await saml.close();
  }
});

test('serves with OIDC and logs a user in at a real provider', async () => {
  const port = await freePort();
  const provider = await OpenIdProvider.start(`http://127.0.0.1:${port}`, 'company');
  const files = new Files();
  const program = new Program(undefined);
  try {
    const { authentication_methods: methods, ...settings } = oidcSettings(files, [
      { name: 'company', issuer: provider.issuer },
    ]);
    const words = wordsOf({ ...settings, authentication_methods: methods.join(','), port: String(port) });
    const server = await program.serve(words);
    await provider.next({ accountId: 'liis', claims: { preferred_username: 'liis' } });
    const start = `${server.url}/api-auth/oidc/company/login/`;
    const token = tokenOf(await new Jar().follow(start, (url) => url.startsWith('http://127.0.0.1')));
    const { body } = await new Client(server, token).get('/api/users/?current');
    assert.equal([body[0].username, body[0].registration_method], ['liis', 'oidc']);
    assert.is(await server.stop(), 0);
  } finally {
    await program.end();
    await provider.close();
    files.remove();
  }
});

test.run();
