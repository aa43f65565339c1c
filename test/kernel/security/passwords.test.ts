/** core.md 2.1 "Timing", "Work": password hashing. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { HttpError } from '../../../src/kernel/http/error.ts';
import { PasswordHasher } from '../../../src/kernel/security/passwords.ts';
import { Fixture } from '../../support/fixture.ts';
import { Wire, type WireResponse } from '../../support/wire.ts';

const passwords = suite('passwords');

passwords('stores a password only as a salted slow hash', async () => {
  const fixture = await Fixture.start();
  for (const name of ['alice', 'bob']) {
    const user = await fixture.user(name);
    await fixture.staff.post(`${user.url}password/`, { password: 'correct horse 1' });
  }
  const { db } = fixture.server.app;
  const hashes = db.values<string>(sql`SELECT password_hash FROM user WHERE password_hash IS NOT NULL`);
  for (const hash of hashes) assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.is(new Set(hashes).size, 2);
  assert.not.ok(db.serialize().includes('correct horse'));
  await fixture.close();
});

passwords('a hash matches its password and no other', async () => {
  const hasher = new PasswordHasher();
  const stored = await hasher.hash('Grün 1');
  assert.equal(
    await Promise.all(['Grün 1', 'grün 1', 'Grün 1 ', ''].map((password) => hasher.matches(password, stored))),
    [true, false, false, false],
  );
});

passwords('users without a password cost the same work as others and never match', async () => {
  const hasher = new PasswordHasher();
  const stored = await hasher.hash('one 1');
  /** CPU time of all threads in this process, which other load on the machine does not affect. */
  const work = async (hash: string | null): Promise<number> => {
    const before = process.cpuUsage();
    for (let i = 0; i < 8; i++) assert.is(await hasher.matches('other 1', hash), false);
    const { system, user } = process.cpuUsage(before);
    return (system + user) / 8000;
  };
  const [known, unknown] = [await work(stored), await work(null)];
  assert.ok(unknown > known / 3 && unknown < known * 3, `known ${known} ms, unknown ${unknown} ms`);
});

passwords('at most 4 hashes run at once and 64 wait; further ones get 503 until the queue has room', async () => {
  const hasher = new PasswordHasher();
  const responses = await Promise.allSettled(
    Array.from({ length: 70 }, (_, i) => hasher.matches('x', i % 2 ? null : '')),
  );
  const rejection = responses.flatMap((reply) =>
    reply.status === 'rejected' && reply.reason instanceof HttpError ? [reply.reason] : [],
  );
  assert.is(rejection.length, 2);
  for (const { status, body, headers } of rejection) {
    assert.equal(
      [status, body, headers],
      [503, { detail: 'Too many logins at once. Try again.' }, { 'Retry-After': '1' }],
    );
  }
  assert.is(await hasher.matches('x', null), false);
});

passwords('a further login gets 503 with Retry-After and does not count as a failure', async () => {
  const fixture = await Fixture.start();
  const body = '{"username":"nobody","password":"x"}';
  const request = [
    'POST /api-auth/password/ HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
  // Requests sent together arrive in one turn of the event loop.
  const wire = (await Wire.to(fixture.url)).bytes(request.repeat(72));
  const responses: WireResponse[] = [];
  for (let i = 0; i < 72; i++) responses.push(await wire.response());
  wire.close();
  const rejection = responses.filter(({ status }) => status === 503);
  assert.is(rejection.length, 4);
  for (const reply of rejection)
    assert.equal(
      [JSON.parse(reply.body), reply.headers['retry-after']],
      [{ detail: 'Too many logins at once. Try again.' }, '1'],
    );
  assert.is(fixture.events().length, 4);
  await fixture.close();
});

passwords.run();
