/** The key pair of single sign-on. */
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openServiceKeys } from '../../../../src/accounts/session/saml/service-keys.ts';
import { loadConfig } from '../../../../src/app/settings.ts';
import { ConfigError } from '../../../../src/kernel/config/config.ts';
import { certificate } from '../../../support/certificate.ts';
import { certificateText } from '../../../support/identity-provider.ts';
import { Files } from '../../../support/saml-fixture.ts';
import { otherKeys, serviceKeys } from '../../../support/saml-keys.ts';

const keys = suite('service keys');
const files = new Files();
keys.after(() => files.remove());

const open = (cert: string, key: string) =>
  openServiceKeys(loadConfig({ input: { saml_cert_file: cert, saml_key_file: key } }));
const certFile = files.write('service.crt', serviceKeys.cert);
const keyFile = files.write('service.key', serviceKeys.key);

function rejection(cert: string, key: string): string {
  try {
    open(cert, key);
  } catch (error) {
    assert.instance(error, ConfigError);
    return (error as Error).message;
  }
  return assert.unreachable('the keys were accepted') ?? '';
}

keys('reads a key pair, ignoring other text in the files', () => {
  const read = open(files.write('chain.crt', `Subject: me\n${serviceKeys.cert}${otherKeys.cert}`), keyFile);
  assert.is(read?.certificate, certificateText(serviceKeys));
  assert.match(read?.privateKey ?? '', /^-----BEGIN PRIVATE KEY-----\n/);
  assert.is(openServiceKeys(loadConfig({ input: { saml_cert_file: certFile } })), undefined);
});

keys('names files that are missing or invalid with their setting', () => {
  const missing = join(files.folder, 'missing');
  assert.match(rejection(missing, keyFile), `TENANTRY_SAML_CERT_FILE: ${missing} cannot be used: ENOENT`);
  assert.match(rejection(certFile, missing), `TENANTRY_SAML_KEY_FILE: ${missing} cannot be used: ENOENT`);
  assert.match(rejection(keyFile, keyFile), `TENANTRY_SAML_CERT_FILE: ${keyFile} cannot be used: `);
  assert.match(rejection(certFile, certFile), `TENANTRY_SAML_KEY_FILE: ${certFile} cannot be used: `);
});

keys('the key must match the certificate, be RSA, and be long enough', () => {
  const other = files.write('other.key', otherKeys.key);
  assert.is(
    rejection(certFile, other),
    `TENANTRY_SAML_KEY_FILE: ${other} is not the key of the certificate ${certFile}`,
  );
  const curve = files.write('curve.key', certificate.key);
  assert.is(
    rejection(files.write('curve.crt', certificate.cert), curve),
    `TENANTRY_SAML_KEY_FILE: ${curve} must hold an RSA key of at least 2048 bits`,
  );
  const short = files.write(
    'short.key',
    generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  );
  assert.is(rejection(certFile, short), `TENANTRY_SAML_KEY_FILE: ${short} must hold an RSA key of at least 2048 bits`);
});

keys.run();
