/** The first user of a new deployment. */

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const first = suite('first user');
let data: string;
let server: Server;

first.before(async () => {
  data = mkdtempSync(join(tmpdir(), 'tenantry-first-'));
  server = await createServer({ data: join(data, 'inner'), port: 0, log_level: 'silent' });
});
first.after(async () => {
  await server.close();
  rmSync(data, { recursive: true });
});

const logIn = async (password: string) => {
  const response = await fetch(`${server.url}/api-auth/password/`, {
    method: 'POST',
    body: new URLSearchParams({ username: 'admin', password }),
  });
  return { status: response.status, body: (await response.json()) as { token: string } };
};

first(
  'the first start on an empty database writes the password of the staff user admin to a file only its owner reads',
  async () => {
    const file = join(data, 'inner/initial-password');
    assert.is(server.initialPassword, file);
    assert.is(statSync(file).mode & 0o777, 0o600);
    assert.is(statSync(join(data, 'inner')).mode & 0o777, 0o700);
    assert.is((await logIn(readFileSync(file, 'utf8').trim())).status, 200);
  },
);

first('a later start creates no user', async () => {
  await server.close();
  server = await createServer({ data: join(data, 'inner'), port: 0, log_level: 'silent' });
  assert.is(server.initialPassword, undefined);
});

first('the file is removed when the password changes', async () => {
  const file = join(data, 'inner/initial-password');
  const { body } = await logIn(readFileSync(file, 'utf8').trim());
  const headers = { Authorization: `Token ${body.token}` };
  const [me] = (await (await fetch(`${server.url}/api/users/?current`, { headers })).json()) as [
    { url: string; is_staff: boolean },
  ];
  assert.is(me.is_staff, true);
  const rejection = await fetch(`${me.url}password/`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ password: 'short' }),
  });
  assert.equal([rejection.status, existsSync(file)], [400, true]);
  const changed = await fetch(`${me.url}password/`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ password: 'longer 1234' }),
  });
  assert.equal([changed.status, existsSync(file)], [200, false]);
  assert.is((await logIn('longer 1234')).status, 200);
});

first.run();
