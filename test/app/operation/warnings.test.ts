/** Notifications to staff about the disk and the certificate (events.md 8.1). */
import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { certificate } from '../../support/certificate.ts';
import { Fixture } from '../../support/fixture.ts';
import { testClock } from '../../support/test-clock.ts';

const test = suite('warnings of the operator');
const fixture = new Fixture();
const { statfsSync } = fs;
let folder: string;

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-warnings-'));
});

test.after.each(async () => {
  setFree(undefined);
  await fixture.close();
  rmSync(folder, { recursive: true });
});

/** Makes every file system report this many free bytes; undefined restores the real value. */
function setFree(bytes: number | undefined): void {
  fs.statfsSync = bytes === undefined ? statfsSync : ((() => ({ bavail: bytes / 1000, bsize: 1000 })) as never);
  syncBuiltinESMExports();
}

const messages = async (): Promise<string[]> => {
  const { db } = fixture.server.app;
  return db.values<string>(sql`
    SELECT concat(u.username, ' ', n.kind, ' ', n.level, ': ', n.message)
    FROM notification n JOIN user u ON u.id = n.user_id ORDER BY n.id`);
};

test('staff are notified when less than 1 GB is free, and again only after 2 GB were free', async () => {
  await fixture.open({ ephemeral: false, data: join(folder, 'data') });
  await fixture.user('alice');
  const minute = async (free: number): Promise<number> => {
    setFree(free);
    await fixture.advance(61);
    return (await messages()).length;
  };
  assert.is(await minute(1e9), 0);
  assert.is(await minute(999_999_000), 1);
  assert.equal(await messages(), ['admin disk_low error: The disk with the data folder has 999 MB left.']);
  assert.is(await minute(500e6), 1);
  assert.is(await minute(1.9e9), 1);
  assert.is(await minute(500e6), 1);
  assert.is(await minute(2.1e9), 1);
  assert.is(await minute(500e6), 2);
});

test('staff are reminded 30, 7 and 1 days before the certificate expires', async () => {
  const files = { tls_cert_file: join(folder, 'cert.pem'), tls_key_file: join(folder, 'key.pem') };
  writeFileSync(files.tls_cert_file, certificate.cert);
  writeFileSync(files.tls_key_file, certificate.key);
  const clock = testClock('2119-12-01T00:00:00Z');
  // The server listens, but this client does not trust its certificate.
  await fixture.open({ ...files, base_url: 'http://127.0.0.1' }, clock).catch(() => undefined);
  const counts: number[] = [];
  for (const time of [
    '2119-12-01',
    '2119-12-03',
    '2119-12-24',
    '2119-12-26',
    '2119-12-30',
    '2119-12-31',
    '2120-01-02',
  ]) {
    clock.set(`${time}T12:00:00Z`);
    await fixture.advance(0);
    counts.push((await messages()).length);
  }
  assert.equal(counts, [0, 1, 1, 2, 2, 3, 3]);
  assert.is(
    (await messages())[0],
    'admin certificate_expiring warning: The TLS certificate of the server expires on 2120-01-01T00:00:00Z.',
  );
});

test.run();
