/** The objects by which an event can be found when cached ids are no longer valid. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customerContext } from '../../../src/activity/events/context.ts';
import { record } from '../../../src/activity/events/record.ts';
import { systemContext } from '../../../src/kernel/access/context.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { Fixture } from '../../support/fixture.ts';

const test = suite('subjects of events');
let data: string;
const fixture = new Fixture();

test.before.each(async () => {
  data = mkdtempSync(join(tmpdir(), 'tenantry-subjects-'));
  await fixture.open({ ephemeral: false, data });
});
test.after.each(async () => {
  await fixture.close();
  rmSync(data, { recursive: true });
});

interface Customer {
  readonly uuid: string;
  readonly name: string;
  readonly url: string;
}

const report = ({ name, uuid }: Customer): void =>
  record(
    systemContext(fixture.server.app),
    'customer_update_succeeded',
    customerContext({ uuid, name, abbreviation: '', contact_details: '' }),
  );

/** Returns messages of the events about a customer, oldest first. */
const messages = async ({ url }: Customer): Promise<string[]> =>
  (await fixture.staff.get(`/api/events/?scope=${url}&o=@timestamp`)).body.map(
    ({ message }: { message: string }) => message,
  );

test('finds an event under its customer after the first event about it was rolled back', async () => {
  const { db } = fixture.server.app;
  const customer: Customer = { ...(await fixture.customer('Real')), name: 'Real' };
  const stranger: Customer = { ...customer, uuid: 'f'.repeat(32), name: 'Never seen before' };
  assert.throws(
    () =>
      db.write(() => {
        report(stranger);
        throw new Error('no');
      }),
    /^no$/,
  );
  db.write(() => {
    report(customer);
    report(stranger);
  });
  assert.equal(await messages(customer), ['Customer Real has been created.', 'Customer Real has been updated.']);
  const subjects = db.values(
    sql`SELECT s.kind || ' ' || s.uuid FROM event_about a JOIN event_subject s ON s.id = a.subject_id WHERE s.uuid = ${stranger.uuid}`,
  );
  assert.equal(subjects, [`customer ${stranger.uuid}`]);
  assert.equal(db.all(sql`PRAGMA foreign_key_check`), []);
});

test('finds an event under its customer after another process has removed the indexed rows', async () => {
  const customer: Customer = { ...(await fixture.customer('Mended')), name: 'Mended' };
  const outside = new SQLite(join(data, 'tenantry.db'));
  outside.exec(
    `DELETE FROM event_about WHERE subject_id IN (SELECT id FROM event_subject WHERE uuid = '${customer.uuid}')`,
  );
  outside.exec(`DELETE FROM event_subject WHERE uuid = '${customer.uuid}'`);
  outside.exec("INSERT INTO event_subject (kind, uuid) VALUES ('customer', 'somebody else')");
  outside.close();
  assert.is((await fixture.staff.patch(`/api/customers/${customer.uuid}/`, { phone_number: '1' })).status, 200);
  assert.equal(await messages(customer), ['Customer Mended has been updated.']);
});

test.run();
