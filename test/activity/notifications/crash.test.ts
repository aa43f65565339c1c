import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { killNotifications } from '../../chaos/kill-notifications.ts';
import { builtProgram } from '../../support/program.ts';

const test = suite('notifications of a server that is killed');

test('each alert notifies by one mail, under one Message-ID, while the mail server fails', async () => {
  const { alerts, mails, rounds } = await killNotifications(3, [builtProgram]);
  assert.equal([rounds, alerts > 0, mails >= alerts], [3, true, true]);
});

test.run();
