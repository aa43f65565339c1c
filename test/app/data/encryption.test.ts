import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { reencryptSecrets } from '../../../src/app/data/encryption.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { addKey } from '../../../src/kernel/security/secrets.ts';

const rotation = suite('rotation of the encryption key');
const folder = mkdtempSync(join(tmpdir(), 'tenantry-rotation-'));
rotation.after(() => rmSync(folder, { recursive: true, force: true }));

rotation('puts a new key first, encrypts every secret with it, and decrypts all of them', async () => {
  const first = await createServer({ data: folder, port: 0, log_level: 'silent' });
  const send = (path: string, body: unknown): Promise<Response> =>
    fetch(first.url + path, {
      method: 'POST',
      headers: { Authorization: `Token ${first.issueToken()}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  assert.is(
    (await send('/api/hooks-web/', { destination_url: 'https://example.com/', event_types: ['role_granted'] })).status,
    201,
  );
  assert.is(
    (await send('/api/service-settings/', { name: 'S', type: 'DigitalOcean', shared: true, token: 'the token' }))
      .status,
    201,
  );
  const { app } = first;
  const before = readFileSync(join(folder, 'secret.key'), 'utf8').trim();
  const stored = (): { uuid: string; token: Uint8Array } =>
    app.db.get<{ uuid: string; token: Uint8Array }>(sql`SELECT uuid, token FROM service_settings`) as {
      uuid: string;
      token: Uint8Array;
    };
  const old = stored();
  const secrets = addKey(folder, app.random);
  assert.is(reencryptSecrets(app, secrets), 3, 'two secrets and the check value of the keys');
  const lines = readFileSync(join(folder, 'secret.key'), 'utf8').trim().split('\n');
  assert.is(lines.length, 2);
  const [id = ''] = (lines[0] as string).split(':');
  assert.match(id, /^[0-9a-f]{8}$/);
  assert.is(lines[1], before);
  assert.is.not(Buffer.from(stored().token).toString('hex'), Buffer.from(old.token).toString('hex'));
  assert.is(Buffer.from(stored().token).toString('utf8', 1, 9), id);
  assert.is(secrets.open(stored().token, old.uuid), 'the token');
  await first.close();

  const second = await createServer({ data: folder, port: 0, log_level: 'silent' });
  const row = second.app.db.get<{ uuid: string; token: Uint8Array }>(sql`SELECT uuid, token FROM service_settings`) as {
    uuid: string;
    token: Uint8Array;
  };
  assert.is(second.app.secrets.open(row.token, row.uuid), 'the token');
  await second.close();
});

rotation.run();
