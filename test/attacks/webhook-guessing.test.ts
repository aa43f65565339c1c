/** The receiver of JIRA webhooks is public, so its secret is long, and wrong secrets are counted (providers.md 7.4). */
import * as assert from 'uvu/assert';
import { startJira } from '../cloud/providers/jira/support.ts';
import type { ApiResponse, Json } from '../support/fixture.ts';
import { suiteWithServerPerTest } from '../support/suite.ts';

const { test: guessing, fixture } = suiteWithServerPerTest('guessing the secret of webhooks', {
  trusted_proxies: ['127.0.0.0/8'],
});

const secret = 'a secret of some length';
const path = '/api/jira-webhook-receiver/';
const forbidden = { detail: 'You do not have permission to perform this action.' };
const tooMany = { detail: 'Too many requests. Try again later.' };

guessing.before.each(async () => {
  await startJira(fixture, { webhook_secret: secret });
});

/** Sends a webhook with a secret from an address. */
const send = (guess: string, address = '203.0.113.7', headers = {}): Promise<ApiResponse<Json>> =>
  fixture.anonymous.send(
    'POST',
    `${path}?secret=${encodeURIComponent(guess)}`,
    { webhookEvent: 'jira:issue_created', issue: { key: 'WEB-1' } },
    { 'X-Forwarded-For': address, ...headers },
  );

guessing('rejects a secret that is short enough to guess', async () => {
  const [settings] = (await fixture.staff.get('/api/service-settings/?type=jira')).body;
  for (const short of ['1', 'nineteen characters']) {
    const { body, status } = await fixture.staff.patch(settings.url, { webhook_secret: short });
    assert.equal([status, body], [400, { webhook_secret: ['Ensure this field has at least 20 characters.'] }], short);
  }
  for (const value of ['', '********']) {
    assert.is((await fixture.staff.patch(settings.url, { webhook_secret: value })).status, 200, value);
    assert.is((await send(secret)).status, 201, value);
  }
});

guessing('reads the secret from the header X-Hook-Secret, too', async () => {
  const { body, status } = await fixture.anonymous.send(
    'POST',
    path,
    { webhookEvent: 'jira:issue_created', issue: { key: 'WEB-1' } },
    { 'X-Hook-Secret': secret },
  );
  assert.equal([status, body], [201, { detail: 'Webhook was accepted.' }]);
  assert.is((await send(secret, '203.0.113.7', { 'X-Hook-Secret': 'another secret altogether' })).status, 403);
});

guessing(
  'rejects all webhooks of a network prefix, with right secrets too, after twenty wrong ones a minute',
  async () => {
    for (let i = 0; i < 20; i++) {
      const { body, status } = await send(`guess ${i}`, `2001:db8:1:2::${i + 1}`);
      assert.equal([status, body], [403, forbidden], String(i));
    }
    for (const guess of ['guess 20', secret]) {
      const { body, headers, status } = await send(guess, '2001:db8:1:2:ffff::1');
      assert.equal([status, body, headers.get('retry-after')], [429, tooMany, '60'], guess);
    }
    assert.is((await send(secret, '2001:db8:1:3::1')).status, 201, 'another network');
    fixture.clock.advance(60);
    assert.is((await send(secret, '2001:db8:1:2::1')).status, 201, 'a minute later');
  },
);

guessing('does not count right secrets', async () => {
  for (let i = 0; i < 30; i++) assert.is((await send(secret)).status, 201, String(i));
});

guessing.run();
