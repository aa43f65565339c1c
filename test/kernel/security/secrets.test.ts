import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadConfig } from '../../../src/app/settings.ts';
import { openSecrets, type Secrets, withOlderKeys } from '../../../src/kernel/security/secrets.ts';

const test = suite('secrets');
const folder = mkdtempSync(join(tmpdir(), 'tenantry-secrets-'));
const key = (id: string, byte: number): string => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;

test.after(() => rmSync(folder, { recursive: true }));

test('decrypts an encrypted secret, which reveals nothing and differs each time', () => {
  const secrets = openSecrets([key('a', 1)], undefined, randomBytes);
  const sealed = secrets.seal('püha saladus', 'uuid');
  assert.is(secrets.open(sealed, 'uuid'), 'püha saladus');
  assert.not.ok(sealed.includes('saladus'));
  assert.not.equal(sealed, secrets.seal('püha saladus', 'uuid'));
});

test('decrypts it only for its object, and only unchanged', () => {
  const secrets = openSecrets([key('a', 1)], undefined, randomBytes);
  const sealed = secrets.seal('secret', 'uuid');
  assert.throws(() => secrets.open(sealed, 'other'));
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed);
    changed[i] = (changed[i] as number) ^ 1;
    assert.throws(() => secrets.open(changed, 'uuid'), undefined, `byte ${i}`);
  }
});

test('the first key encrypts, all decrypt', () => {
  const old = openSecrets([key('old', 1)], undefined, randomBytes).seal('secret', 'uuid');
  const both = openSecrets([key('new', 2), key('old', 1)], undefined, randomBytes);
  assert.is(both.open(old, 'uuid'), 'secret');
  const fresh = both.seal('secret', 'uuid');
  assert.is(openSecrets([key('new', 2)], undefined, randomBytes).open(fresh, 'uuid'), 'secret');
  assert.throws(
    () => openSecrets([key('new', 2)], undefined, randomBytes).open(old, 'uuid'),
    'A secret is encrypted with the key "old", which encryption_keys does not list',
  );
});

test('creates secret.key for its owner at the first start and uses it later', () => {
  const sealed = openSecrets([], folder, randomBytes).seal('secret', 'uuid');
  const file = join(folder, 'secret.key');
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.match(readFileSync(file, 'utf8'), /^[0-9a-f]{8}:[A-Za-z0-9+/]{43}=\n$/);
  assert.is(openSecrets([], folder, randomBytes).open(sealed, 'uuid'), 'secret');
  writeFileSync(file, 'nonsense\n');
  assert.throws(
    () => openSecrets([], folder, randomBytes),
    (error: Error) => error.message === `${file}: An encryption key must be an id, a colon and the base64 of 32 bytes`,
  );
  writeFileSync(file, '');
  assert.throws(() => openSecrets([], folder, randomBytes), /secret.key has no key$/);
});

test('concurrent commands at the first start use one key', () => {
  const home = mkdtempSync(join(tmpdir(), 'tenantry-secrets-'));
  let other: Secrets | undefined;
  const mine = openSecrets([], home, (bytes) => {
    // At this point, `mine` has found no key file.
    other = openSecrets([], home, randomBytes);
    return randomBytes(bytes);
  });
  assert.is(mine.open((other as unknown as Secrets).seal('secret', 'uuid'), 'uuid'), 'secret');
  assert.equal(readdirSync(home), ['secret.key']);
  rmSync(home, { recursive: true });
});

test('a command that found no key reads the one that another command created meanwhile', () => {
  const home = mkdtempSync(join(tmpdir(), 'tenantry-secrets-'));
  let other: Secrets | undefined;
  const mine = openSecrets([], home, randomBytes, () => {
    other = openSecrets([], home, randomBytes);
    // The database already has a value that it encrypted.
    return false;
  });
  assert.is(mine.open((other as unknown as Secrets).seal('secret', 'uuid'), 'uuid'), 'secret');
  rmSync(home, { recursive: true });
});

test('a backup during a rotation contains the keys before and after it, the newest first', () => {
  const [a, b] = [`${key('a', 1)}\n`, `${key('b', 2)}\n`];
  assert.is(withOlderKeys(a, a), a);
  assert.is(withOlderKeys(b + a, a), b + a);
  assert.is(withOlderKeys(b, a), b + a, 'they were pruned meanwhile');
  assert.is(withOlderKeys(b.trimEnd(), a), b + a, 'an editor has left the last line without an end');
});

test('the setting encryption_keys lists id:base64 of 32 bytes', () => {
  const keys = [key('2024', 1), key('2023', 2)];
  assert.equal(loadConfig({ env: { TENANTRY_ENCRYPTION_KEYS: keys.join(',') } }).encryption_keys, keys);
  for (const wrong of ['abc', 'a:b', `:${'A'.repeat(43)}=`, `a:${'A'.repeat(44)}`]) {
    assert.throws(
      () => loadConfig({ env: { TENANTRY_ENCRYPTION_KEYS: wrong } }),
      'TENANTRY_ENCRYPTION_KEYS must list keys such as 2024:<base64 of 32 bytes>',
    );
  }
});

test.run();
