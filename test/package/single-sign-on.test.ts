/** Single sign-on by the built program. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Program } from '../support/program.ts';
import { SamlProvider } from '../support/saml-login.ts';

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

test.run();
