import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Json } from '../../support/fixture.ts';
import { sentMails } from '../../support/sent-mails.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('mails about changes of users (core.md 4.6)', {
  product_name: 'Cloud',
});
let alice: Json;

test.before.each(async () => {
  alice = await fixture.user('alice', { email: 'old@example.com' });
});

const reports = async (): Promise<[string | undefined, string | undefined][]> =>
  (await sentMails(fixture)).map(({ subject, to }) => [to?.[0]?.address, subject]);
const newEmail = 'Your email address for Cloud has been changed';
const newPassword = 'Your password for Cloud has been changed';
const setPassword = (password: string) => fixture.staff.post(`${alice.url}password/`, { password });

test('notifies the old email of a new one, without the new address or a link', async () => {
  await fixture.as('alice').patch(alice.url, { agree_with_policy: true, email: 'new@example.com' });
  const [mail, ...others] = await sentMails(fixture);
  assert.is(others.length, 0);
  assert.equal([mail?.to?.[0]?.address, mail?.subject], ['old@example.com', newEmail]);
  assert.is(
    mail?.text?.trim(),
    'Hello!\nThe email address of the user alice of Cloud has been changed.\nIf no one did this on your behalf, please notify the operator of the service.',
  );
});

test('sends no mail about an unverified email, a change of case, or no email', async () => {
  const own = fixture.as('alice');
  await own.patch(alice.url, { agree_with_policy: true, email: 'OLD@example.com' });
  assert.equal(await reports(), []);
  await own.patch(alice.url, { email: 'third@example.com' });
  await own.patch(alice.url, { email: '' });
  await own.patch(alice.url, { email: 'fourth@example.com' });
  assert.equal(await reports(), []);
  await fixture.staff.patch(alice.url, { email: 'fifth@example.com' });
  await fixture.staff.patch(alice.url, { email: 'sixth@example.com' });
  assert.equal(await reports(), [['fifth@example.com', newEmail]]);
});

test('notifies the email of a new password, but not of the first one', async () => {
  await setPassword('correct horse 1');
  assert.equal(await reports(), []);
  await setPassword('correct horse 2');
  assert.equal(await reports(), [['old@example.com', newPassword]]);
});

test('the mail about a new password says how many API keys remain valid', async () => {
  await setPassword('correct horse 1');
  const alice = fixture.as('alice');
  for (const name of ['Build server', 'Laptop'])
    await alice.post('/api/api-keys/', { name, scopes: ['customers:read'] });
  await setPassword('correct horse 2');
  const [mail] = await sentMails(fixture);
  assert.is(
    mail?.text?.trim(),
    'Hello!\nThe password of the user alice of Cloud has been changed.\nAPI keys of this user that remain valid: 2.\nIf no one did this on your behalf, please notify the operator of the service.',
  );
});

test('a user gets at most five such mails an hour; a rejected change sends none', async () => {
  for (let i = 0; i < 8; i++) await setPassword(`correct horse ${i}`);
  assert.is((await reports()).length, 5);
  assert.is((await setPassword('x')).status, 400);
  fixture.clock.advance(3600);
  await setPassword('correct horse 9');
  assert.is((await reports()).length, 6);
  await fixture.advance(7200);
  assert.is(fixture.server.app.db.value(sql`SELECT count(*) FROM user_notice`), 0);
});

test.run();
