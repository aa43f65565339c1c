/** A push token allows writing to a device. Neither the database nor validation reveals other users' tokens. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { reencryptSecrets } from '../../src/app/data/encryption.ts';
import { sql } from '../../src/kernel/db/sql.ts';
import { addKey } from '../../src/kernel/security/secrets.ts';
import { Fixture, type Json } from '../support/fixture.ts';
import { Receiver } from '../support/receiver.ts';

const test = suite('attacks on push tokens');
const fixture = new Fixture();
const token = 'fcm-registration-token-of-alice';
const body = { type: 'Android', event_types: ['user_update_succeeded'] };
let folder: string;

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-push-tokens-'));
});

test.after.each(async () => {
  await fixture.close();
  rmSync(folder, { recursive: true, force: true });
});

const onDisk = (options: ServerOptions = {}): ServerOptions => ({ ephemeral: false, data: folder, ...options });

test('compares tokens and device ids with those of the same user only, so that others stay unknown', async () => {
  await fixture.open();
  await fixture.user('alice');
  await fixture.user('mallory');
  const [alice, mallory] = [fixture.as('alice'), fixture.as('mallory')];
  const device = { device_id: 'device', token };
  const hers = (await alice.post('/api/hooks-push/', { ...body, ...device })).body;
  const his = await mallory.post('/api/hooks-push/', { ...body, ...device });
  assert.equal([his.status, his.body.device_id, his.body.token], [201, 'device', token]);
  const again = await alice.post('/api/hooks-push/', { ...body, ...device });
  assert.equal(
    [again.status, again.body],
    [
      400,
      {
        device_id: ['push hook with this device id already exists.'],
        token: ['push hook with this token already exists.'],
      },
    ],
  );
  const second = (await alice.post('/api/hooks-push/', body)).body;
  for (const client of [alice, fixture.staff])
    assert.equal(
      (await client.patch(second.url, { token })).body,
      { token: ['push hook with this token already exists.'] },
      'the other hooks of the author count, not those of the user who changes it',
    );
  const owner = (await fixture.staff.post('/api/hooks-push/', { ...body, token })).body;
  assert.equal(
    (await fixture.staff.get(`/api/hooks-push/?token=${token}`)).body.map(({ uuid }: Json) => uuid),
    [hers.uuid, his.body.uuid, owner.uuid],
  );
  assert.equal((await mallory.get(`/api/hooks/?token=${token}`)).body, [his.body]);
  assert.equal((await mallory.get('/api/hooks-push/?token=unknown')).body, []);
});

test('stores tokens encrypted, and delivers notifications with them', async () => {
  const gateway = await Receiver.start();
  await fixture.open(onDisk({ push_gateway_url: gateway.url, push_server_key_android: 'key' }));
  assert.equal((await fixture.staff.get(`/api/hooks-push/?token=${token}`)).body, []);
  const { url, modified } = (await fixture.staff.post('/api/hooks-push/', { ...body, token })).body;
  fixture.clock.advance(60);
  const same = await fixture.staff.patch(url, { token });
  assert.equal([same.body.token, same.body.modified], [token, modified], 'the same token changes nothing');
  const me = (await fixture.staff.get('/api/users/?current')).body[0];
  await fixture.staff.patch(me.url, { job_title: 'Boss' });
  await fixture.server.settled();
  assert.equal(
    gateway.takeJson().map(({ to }) => to),
    [token],
  );
  assert.is(fixture.server.app.db.serialize().indexOf(token), -1);
  assert.is((await fixture.staff.patch(url, { token: null })).body.token, null);
  assert.equal(fixture.server.app.db.all(sql`SELECT token, token_digest FROM hook`), [
    { token: null, token_digest: null },
  ]);
  await gateway.close();
});

test('shows, finds and compares tokens after a rotation of encryption keys, without the old key', async () => {
  await fixture.open(onDisk());
  const { url } = (await fixture.staff.post('/api/hooks-push/', { ...body, token })).body;
  const { app } = fixture.server;
  assert.ok(reencryptSecrets(app, addKey(folder, app.random)) >= 2);
  await fixture.close();
  // rotate-key also replaces the key of the audit trail.
  rmSync(join(folder, 'audit.key'));
  const file = join(folder, 'secret.key');
  writeFileSync(file, `${readFileSync(file, 'utf8').split('\n')[0]}\n`);
  await fixture.open(onDisk());
  assert.is((await fixture.staff.get(url)).body.token, token);
  assert.is((await fixture.staff.get(`/api/hooks-push/?token=${token}`)).body.length, 1);
  assert.equal((await fixture.staff.post('/api/hooks-push/', { ...body, token })).body, {
    token: ['push hook with this token already exists.'],
  });
});

test('encrypts tokens stored by an earlier version at the next start, on the same rows', async () => {
  await fixture.open(onDisk());
  const { url, uuid } = (await fixture.staff.post('/api/hooks-push/', body)).body;
  const { db } = fixture.server.app;
  db.write(() => db.run(sql`UPDATE hook SET plain_token = ${token} WHERE uuid = ${uuid}`));
  await fixture.close();
  assert.ok(readFileSync(join(folder, 'tenantry.db')).includes(token));
  await fixture.open(onDisk());
  assert.is((await fixture.staff.get(url)).body.token, token);
  assert.is((await fixture.staff.get(`/api/hooks-push/?token=${token}`)).body.length, 1);
  await fixture.close();
  assert.not.ok(readFileSync(join(folder, 'tenantry.db')).includes(token));
});

test.run();
