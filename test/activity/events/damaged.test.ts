import * as assert from 'uvu/assert';
import { day } from '../../../src/kernel/clock.ts';
import { raw, sql } from '../../../src/kernel/db/sql.ts';
import type { Json } from '../../support/fixture.ts';
import { Mailbox } from '../../support/mailbox.ts';
import { Receiver } from '../../support/receiver.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('events whose context is damaged', {
  events_retention: 7 * day,
  hooks_allowed_networks: ['127.0.0.0/8'],
});

/** Damages the context of the event with this message as a bad disk or another program would. */
function damage(message: string, context = '{bad'): string {
  const { db } = fixture.server.app;
  db.write(() => db.run(sql`UPDATE event SET context = ${context} WHERE message = ${message}`));
  db.commit();
  return db.scalar<string>(sql`SELECT uuid FROM event WHERE message = ${message}`);
}

/** Creates three events about a customer, the second of them damaged. Returns the customer. */
async function threeEvents(context?: string): Promise<{ customer: Json; uuid: string }> {
  const customer = await fixture.customer('Alice');
  for (const message of ['First', 'Second', 'Third']) {
    fixture.clock.advance(1);
    await fixture.staff.post('/api/events/', { level: 'info', message, scope: customer.url });
  }
  return { customer, uuid: damage('Second', context) };
}

for (const context of ['{bad', '', '7', '["a"]'])
  test(`shows an event whose context is ${context || 'empty'} without it among the others, and logs it once`, async () => {
    const logged: unknown[] = [];
    fixture.server.app.log.error = (...values: unknown[]) => void logged.push(values);
    const { uuid } = await threeEvents(context);
    const list = '/api/events/?event_type=custom_notification';
    for (let i = 0; i < 2; i++) {
      const [third, second, first] = (await fixture.staff.get(list)).body;
      assert.equal([third.customer_name, first.customer_name], ['Alice', 'Alice']);
      assert.equal(second, {
        '@timestamp': second['@timestamp'],
        '@version': 1,
        uuid,
        message: 'Second',
        level: 'info',
        levelname: 'INFO',
        importance: 'normal',
        importance_code: 20,
        event_type: 'custom_notification',
        type: 'custom_notification',
      });
    }
    assert.equal(logged, [[{ event: uuid }, 'the context of an event is damaged: the event is shown without it']]);
    assert.is(fixture.server.app.db.scalar(sql`SELECT context FROM event WHERE uuid = ${uuid}`), context);
  });

test('an owner sees the other events, whatever the request', async () => {
  const { customer } = await threeEvents();
  const user = await fixture.user('owner');
  await fixture.grant(customer, user, 'owner');
  const owner = fixture.as('owner');
  for (const filter of [
    '',
    '&search=third',
    `&scope=${customer.url}`,
    '&user_username=admin',
    '&scope_type=customer',
  ]) {
    const { body, status } = await owner.get(`/api/events/?event_type=custom_notification${filter}`);
    assert.is(status, 200, filter);
    assert.ok(
      body.some(({ message }: Json) => message === 'Third'),
      filter,
    );
    assert.is((await owner.get(`/api/events/count/?event_type=custom_notification${filter}`)).status, 200, filter);
    assert.is((await owner.get(`/api/events/count/history/?point=1515130000${filter}`)).status, 200, filter);
  }
});

test('sends it to a hook without its context', async () => {
  const receiver = await Receiver.start();
  receiver.behaviour = 500;
  const hook = { destination_url: receiver.url, event_types: ['custom_notification'] };
  assert.is((await fixture.staff.post('/api/hooks-web/', hook)).status, 201);
  await fixture.staff.post('/api/events/', { level: 'info', message: 'Second' });
  await fixture.server.settled();
  damage('Second');
  receiver.take();
  receiver.behaviour = 200;
  await fixture.advance(60);
  const [sent] = receiver.take();
  const { context, message } = JSON.parse(sent?.body ?? '{}');
  assert.equal([message, context], ['Second', {}]);
  await receiver.close();
});

test('an hourly digest mail includes it', async () => {
  const mailbox = await Mailbox.start();
  await fixture.open({ ...mailbox.settings, hook_mail_limit: 0 });
  await fixture.staff.post('/api/hooks-email/', {
    email: 'ops@example.com',
    event_types: ['customer_creation_succeeded'],
  });
  for (const name of ['Alice', 'Bob']) await fixture.customer(name);
  damage('Customer Alice has been created.');
  await fixture.advance(3600);
  assert.equal(
    mailbox.take().map(({ text }) => text?.trim().split('\n')),
    [['Jan 05 04:47 Customer Alice has been created.', 'Jan 05 04:47 Customer Bob has been created.']],
  );
  await mailbox.close();
});

for (const context of ['{bad', '7', '["a"]'])
  test(`removes an old event with the context ${context} like the others`, async () => {
    await threeEvents(context);
    await fixture.advance(8 * 86_400);
    const { db } = fixture.server.app;
    for (const table of ['event', 'event_about'])
      assert.is(db.scalar(sql`SELECT count(*) FROM ${raw(table)}`), 0, table);
  });

test.run();
