/** Internationalised domains of email addresses: both forms are the same address (core.md 4.1). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emailForms, foldedEmail } from '../../../src/kernel/db/email-address.ts';
import { migrate } from '../../../src/kernel/db/migrate.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
import { embeddedMigrations } from '../../../src/kernel/native/embedded.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const [unicode, ascii] = ['Kaja@õun.ee', 'kaja@xn--un-bka.ee'];
const { test, fixture } = suiteWithServerPerTest('email addresses with an internationalised domain', {
  validate_invitation_email: true,
});

test('rejects the other form of an address for a second user; the first user can change to it', async () => {
  const first = await fixture.user('kaja', { email: unicode });
  const taken = (email: string) => [400, { email: [`User with email "${email}" already exists.`] }];
  for (const email of [ascii, 'KAJA@XN--UN-BKA.EE', 'kaja@ÕUN.ee']) {
    const { body, status } = await fixture.staff.post('/api/users/', { username: 'other', email });
    assert.equal([status, body], taken(email));
  }
  const changed = await fixture.staff.patch(first.url, { email: ascii });
  assert.equal([changed.status, changed.body.email], [200, ascii], 'it is stored as sent');
  const { body, status } = await fixture.staff.post('/api/users/', { username: 'other', email: unicode });
  assert.equal([status, body], taken(unicode));
  for (const email of ['kaja@oun.ee', 'kaja@xn--un-cka.ee', 'xn--kaja@õun.ee'])
    assert.is((await fixture.staff.post('/api/users/', { username: email.slice(0, 20), email })).status, 201, email);
});

test('filters find an address by either form', async () => {
  await fixture.user('kaja', { email: unicode });
  await fixture.user('leo', { email: 'leo@xn--un-bka.ee' });
  const matches = async (query: string): Promise<string[]> =>
    (await fixture.staff.get(`/api/users/?o=username&${query}`)).body.map(
      ({ username }: { username: string }) => username,
    );
  for (const email of [unicode, ascii]) {
    assert.equal(await matches(`email_exact=${encodeURIComponent(email)}`), ['kaja']);
    assert.equal(await matches(`email=${encodeURIComponent(email.split('@')[1] ?? '')}`), ['kaja', 'leo']);
  }
  assert.equal(await matches('email=xn--un'), ['leo'], 'a part of a label is a part of the text');
});

test('a user with the other form accepts an invitation, and filters find it by either form', async () => {
  const customer = await fixture.customer('Ministry');
  const user = await fixture.user('kaja', { email: unicode });
  const { body } = await fixture.staff.post('/api/user-invitations/', {
    link_template: 'https://app.example.com/{uuid}',
    email: ascii,
    customer: customer.url,
    customer_role: 'owner',
  });
  for (const email of ['kaja@õun.ee', ascii]) {
    const list = await fixture.staff.get(`/api/user-invitations/?email=${encodeURIComponent(email)}`);
    assert.equal(
      list.body.map(({ uuid }: { uuid: string }) => uuid),
      [body.uuid],
    );
  }
  assert.equal((await fixture.as('kaja').post(`${body.url}accept/`)).status, 200);
  assert.is((await fixture.staff.get(user.url)).body.email, unicode);
});

test.run();

const forms = suite('forms of an email address');

forms('converts only valid domains to the other form', () => {
  assert.is(foldedEmail('A@XN--UN-BKA.EE'), 'a@õun.ee');
  assert.is(foldedEmail('A@ÕUN.ee'), 'a@õun.ee');
  for (const address of ['a@xn--google-.com', 'a@xn--a.com', 'xn--un-bka.ee@example.com'])
    assert.is(foldedEmail(address), address);
  assert.equal(emailForms('a@õun.ee'), ['a@õun.ee', 'a@xn--un-bka.ee']);
  assert.equal(emailForms('a@xn--un-bka.ee'), ['a@xn--un-bka.ee', 'a@õun.ee']);
  for (const text of ['a@example.com', 'example', '']) assert.equal(emailForms(text), [text]);
});

forms('existing users are found by either form; two existing users with both forms of an address remain', () => {
  const db = SqliteDatabase.open(':memory:');
  db.define('country_name', (code) => code);
  migrate(
    db,
    embeddedMigrations().findIndex(({ name }) => name.endsWith('_email_domains')),
  );
  for (const [id, email] of ['leo@xn--un-bka.ee', 'kaja@õun.ee', 'kaja@xn--un-bka.ee', 'plain@example.com'].entries())
    db.write(() =>
      db.insert('user', {
        uuid: String(id).repeat(32),
        username: `user${id}`,
        username_folded: `user${id}`,
        email,
        email_folded: email,
        date_joined: 0,
      }),
    );
  db.commit();
  migrate(db);
  assert.equal(db.values(sql`SELECT email_folded FROM user ORDER BY id`), [
    'leo@õun.ee',
    'kaja@õun.ee',
    'kaja@xn--un-bka.ee',
    'plain@example.com',
  ]);
  db.close();
});

forms.run();
