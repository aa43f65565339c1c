/** core.md 2.6: the link that sets the name and password of the first user. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'tenantry';
import * as assert from 'uvu/assert';
import { makeInitialLink } from '../../../src/accounts/session/initial-link.ts';
import { firstLoginUrl, reportInitialPassword } from '../../../src/app/cli/ready.ts';
import { minute } from '../../../src/kernel/clock.ts';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('the first password');
const path = '/api-auth/password/initial/';
const ended =
  'This link does not work any more: it was used, its 30 minutes are over, or the password was changed. Sign in, or start the server again.';
const password = 'correct-horse-1';

const link = (): string => makeInitialLink(fixture.server.app) as string;
const use = (secret: string, more: Json = {}) => fixture.anonymous.post(path, { secret, password, ...more });

test('sets name and password, returns a token and revokes the others', async () => {
  fixture.events();
  const { body, status } = await use(link(), { full_name: 'Alice Adams' });
  assert.is(status, 200);
  const own = await fixture.anonymous.get('/api/users/?current', { Authorization: `Token ${body.token}` });
  assert.equal([own.body[0].username, own.body[0].full_name, own.body[0].is_staff], ['admin', 'Alice Adams', true]);
  assert.is((await fixture.staff.get('/api/users/')).status, 401);
  assert.equal(
    fixture.events().map(({ context, type }) => [type, context.user_username]),
    [
      ['user_update_succeeded', 'admin'],
      ['user_password_updated', 'admin'],
      ['token_created', 'admin'],
    ],
  );
  assert.is((await fixture.anonymous.post('/api-auth/password/', { username: 'admin', password })).status, 200);
});

test('a link works once, also for two simultaneous requests', async () => {
  const secret = link();
  const responses = await Promise.all([use(secret), use(secret)]);
  assert.equal(responses.map(({ status }) => status).sort(), [200, 400]);
  assert.equal((await use(secret)).body, { secret: [ended] });
});

test('a link expires permanently after half an hour', async () => {
  const secret = link();
  const start = fixture.clock.now();
  fixture.clock.set(start + 30 * minute);
  assert.equal([(await use(secret)).status, (await use(secret)).body], [400, { secret: [ended] }]);
  fixture.clock.set(start);
  assert.is((await use(secret)).status, 400);
});

test('a link works until half an hour has passed', async () => {
  fixture.clock.hold();
  const secret = link();
  fixture.clock.set(fixture.clock.now() + 30 * minute - 1);
  assert.is((await use(secret)).status, 200);
});

test('a newer link or a new password invalidates a link', async () => {
  const [first, second] = [link(), link()];
  assert.is((await use(first)).status, 400);
  const [me] = (await fixture.staff.get('/api/users/?current')).body;
  assert.is((await fixture.staff.post(`${me.url}password/`, { password: 'another-horse-1' })).status, 200);
  assert.is((await use(second)).status, 400);
});

test('reports errors in the password or name, and the link stays valid', async () => {
  const secret = link();
  assert.equal(await fixture.anonymous.post(path, {}).then(({ body, status }) => [status, body]), [
    400,
    { secret: ['This field is required.'], password: ['This field is required.'] },
  ]);
  const weak = await use(secret, { password: 'short', full_name: 'x'.repeat(101) });
  assert.equal(
    [weak.status, weak.body],
    [
      400,
      {
        password: ['Ensure this field has at least one digit.', 'Ensure this field has at least 7 characters.'],
        full_name: ['Ensure this field has no more than 100 characters.'],
      },
    ],
  );
  assert.is((await use(secret)).status, 200);
});

test('creates no link without password login or without that user', async () => {
  const { app } = fixture.server;
  assert.is(makeInitialLink({ ...app, config: { ...app.config, authentication_methods: ['SAML2'] } }), undefined);
  await fixture.user('other', { is_staff: true });
  const [me] = (await fixture.staff.get('/api/users/?current')).body;
  await fixture.as('other').patch(me.url, { is_active: false });
  assert.is(makeInitialLink(app), undefined);
});

test('start prints the link on a terminal, and never logs it, while the initial password is in use', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-link-'));
  const server = await createServer({ data, port: 0, log_level: 'silent' });
  const config = { data, base_url: null, console_enabled: true };
  const printed = (isTerminal: { stdout: boolean; stderr: boolean }, changed = {}): readonly string[] => {
    const lines: string[] = [];
    const output = (name: string, isTTY: boolean) => ({
      isTTY,
      write: (line: string) => lines.push(`${name}: ${line}`) > 0,
    });
    reportInitialPassword(server, config, firstLoginUrl(server, { ...config, ...changed }), {
      stdout: output('out', isTerminal.stdout),
      stderr: output('err', isTerminal.stderr),
    });
    return lines;
  };
  try {
    const file = join(data, 'initial-password');
    const note = `err: The password of the staff user "admin" is in ${file}. The file is deleted when the password is changed.\n`;
    assert.equal(printed({ stdout: false, stderr: false }), []);
    assert.equal(printed({ stdout: true, stderr: true }, { console_enabled: false }), [note]);
    const behind = printed({ stdout: false, stderr: true }, { base_url: 'https://example.com/cloud' });
    assert.match(behind[0] ?? '', /^err: .*: https:\/\/example\.com\/cloud\/#\/first\/[0-9a-f]{32}\n$/);
    const lines = printed({ stdout: true, stderr: true });
    assert.is(lines[1], note);
    const [, address, secret] =
      /^out: Choose your name and password here, once, within 30 minutes: (.*)\/#\/first\/([0-9a-f]{32})\n$/.exec(
        lines[0] ?? '',
      ) ?? [];
    assert.is(address, server.url);
    const response = await fetch(server.url + path, {
      method: 'POST',
      body: new URLSearchParams({ secret: secret ?? '', password }),
    });
    assert.equal([response.status, existsSync(file)], [200, false]);
    assert.equal(printed({ stdout: true, stderr: true }), []);
  } finally {
    await server.close();
    rmSync(data, { recursive: true });
  }
});

test.run();
