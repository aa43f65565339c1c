import * as assert from 'uvu/assert';
import type { ApiResponse, Json } from '../../support/fixture.ts';
import { fingerprints, type KeyName, publicKeys } from '../../support/public-keys.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('the public key (core.md 5)');

const invalid = { public_key: ['Invalid SSH public key.'] };
const severalLines = { public_key: ['Key is not valid: it should be single line.'] };

/** Sends a key for a user without keys. Removes it again if it was accepted. */
async function offer(public_key: unknown): Promise<ApiResponse<Json>> {
  const response = await fixture.staff.post('/api/keys/', { public_key });
  if (response.status === 201) await fixture.staff.delete(response.body.url);
  return response;
}

/** A field in the body of a key: its length in four bytes, then its bytes. */
function field(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
const line = (type: string, ...fields: readonly (string | Uint8Array)[]) =>
  `${type} ${Buffer.concat(fields.map(field)).toString('base64')}`;
const bodyOf = (key: string) => Buffer.from(key.split(' ')[1] as string, 'base64');

for (const name of Object.keys(publicKeys) as KeyName[]) {
  test(`a key of type ${publicKeys[name].split(' ')[0]} is accepted, its fingerprints are those of ssh-keygen`, async () => {
    const { status, body } = await offer(`${publicKeys[name]} walter@example.com`);
    assert.is(status, 201);
    assert.is(body.public_key, `${publicKeys[name]} walter@example.com`);
    assert.is(body.name, 'walter@example.com');
    assert.is(body.fingerprint, fingerprints[name].md5);
    assert.is(body.fingerprint_sha256, fingerprints[name].sha256);
  });

  test(`rejects a key of type ${publicKeys[name].split(' ')[0]} with a truncated body or trailing bytes`, async () => {
    const type = publicKeys[name].split(' ')[0] as string;
    const body = bodyOf(publicKeys[name]);
    for (const length of [0, 3, 4, type.length + 4, body.length - 33, body.length - 1]) {
      assert.equal((await offer(`${type} ${body.subarray(0, length).toString('base64')}`)).body, invalid, `${length}`);
    }
    for (const more of ['\0', '\0\0\0\0', 'more']) {
      assert.equal(
        (await offer(`${type} ${Buffer.concat([body, Buffer.from(more)]).toString('base64')}`)).body,
        invalid,
      );
    }
  });

  test(`rejects the type word ${publicKeys[name].split(' ')[0]} before the body of another type`, async () => {
    for (const other of Object.values(publicKeys)) {
      if (other === publicKeys[name]) continue;
      assert.equal((await offer(`${publicKeys[name].split(' ')[0]} ${other.split(' ')[1]}`)).body, invalid);
    }
  });
}

test('trims a key; spaces or tabs separate its words', async () => {
  const { status, body } = await offer(` \n${publicKeys.ed25519.replace(' ', '\t ')} \t walter  white \r\n`);
  assert.is(status, 201);
  assert.is(body.public_key, `${publicKeys.ed25519.replace(' ', '\t ')} \t walter  white`);
  assert.is(body.name, 'walter  white');
  assert.is(body.fingerprint, fingerprints.ed25519.md5);
});

test('rejects more than one line', async () => {
  for (const text of [
    `${publicKeys.ed25519}\n${publicKeys.rsa}`,
    `${publicKeys.ed25519}\r${publicKeys.rsa}`,
    publicKeys.rsa.replace(/.{70}/g, '$&\n'),
    '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----',
  ]) {
    assert.equal((await offer(text)).body, severalLines);
  }
});

test('rejects other types, other texts and damaged base64', async () => {
  const [type, encoded] = publicKeys.ed25519.split(' ') as [string, string];
  for (const text of [
    'ssh-rsa',
    'ssh-ed25519 ',
    encoded,
    'nonsense',
    `ssh-dss ${encoded}`,
    line('ssh-dss', 'ssh-dss', 'p', 'q', 'g', 'y'),
    line('ssh-ed448', 'ssh-ed448', Buffer.alloc(57, 1)),
    line('constructor', 'constructor', Buffer.alloc(32, 1)),
    `${type.toUpperCase()} ${encoded}`,
    `command="ls" ${publicKeys.ed25519}`,
    `${type} ${encoded.slice(0, -2)}`,
    `${type} ${encoded}====`,
    `${type} ${encoded.replace('A', '*')}`,
    `${type} ${encoded.slice(0, 10)} ${encoded.slice(10)}`,
    `${type} ${encoded.replace(/\+/g, '-').replace(/\//g, '_')}!`,
    publicKeys.nistp256.replace(/=+$/, ''),
    `${type}\u00a0${encoded}`,
    `${type}\u2028${encoded}`,
  ]) {
    const { status, body } = await offer(text);
    assert.is(status, 400, text);
    assert.equal(body, invalid, text);
  }
});

test('rejects a body with a wrong number or length of fields or another curve', async () => {
  const point = Buffer.alloc(65, 4);
  for (const text of [
    line('ssh-rsa', 'ssh-rsa', Buffer.from([1, 0, 1])),
    line('ssh-rsa', 'ssh-rsa', Buffer.from([1, 0, 1]), ''),
    line('ssh-rsa', 'ssh-rsa', '', Buffer.alloc(256, 1)),
    line('ssh-ed25519', 'ssh-ed25519', Buffer.alloc(31, 1)),
    line('ssh-ed25519', 'ssh-ed25519', Buffer.alloc(33, 1)),
    line('ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp256', 'nistp384', point),
    line('ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp256', 'nistp256', Buffer.alloc(97, 4)),
    line('ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp384', 'nistp384', point),
    line('sk-ssh-ed25519@openssh.com', 'sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 1)),
    line('sk-ssh-ed25519@openssh.com', 'sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 1), ''),
    line('sk-ecdsa-sha2-nistp256@openssh.com', 'sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', point),
    line('sk-ecdsa-sha2-nistp256@openssh.com', 'sk-ecdsa-sha2-nistp256@openssh.com', 'nistp384', point, 'ssh:'),
  ]) {
    assert.equal((await offer(text)).body, invalid, text);
  }
  const overflowing = Buffer.concat([field('ssh-ed25519'), Buffer.from([255, 255, 255, 255])]);
  assert.equal((await offer(`ssh-ed25519 ${overflowing.toString('base64')}`)).body, invalid);
});

test('a key has at most 2000 characters', async () => {
  const full = `${publicKeys.ed25519} ${'x'.repeat(2000 - publicKeys.ed25519.length - 1)}`;
  assert.is((await offer(full)).status, 201);
  assert.equal((await offer(`${full}x`)).body, { public_key: ['Ensure this field has no more than 2000 characters.'] });
  assert.is((await offer('x'.repeat(1_100_000))).status, 413);
});

test('reports a missing, blank, null or non-text key', async () => {
  assert.equal((await fixture.staff.post('/api/keys/', {})).body, { public_key: ['This field is required.'] });
  assert.equal((await fixture.staff.post('/api/keys/')).body, { public_key: ['This field is required.'] });
  assert.equal((await offer(' \n ')).body, { public_key: ['This field may not be blank.'] });
  assert.equal((await offer(null)).body, { public_key: ['This field may not be null.'] });
  for (const value of [true, [], [publicKeys.rsa], {}])
    assert.equal((await offer(value)).body, { public_key: ['Not a valid string.'] });
  assert.equal((await offer(5)).body, invalid);
  assert.equal((await offer(`${publicKeys.ed25519} a\0b`)).body, { public_key: ['Null characters are not allowed.'] });
});

test.run();
