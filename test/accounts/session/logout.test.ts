/** core.md 2.4: POST /api-auth/logout/. */
import * as assert from 'uvu/assert';
import { suiteWithServer } from '../../support/suite.ts';

const { test: logout, fixture } = suiteWithServer('logout');
const path = '/api-auth/logout/';

logout('requires a token', async () => {
  const response = await fixture.anonymous.post(path);
  assert.equal([response.status, response.body], [401, { detail: 'Authentication credentials were not provided.' }]);
});

logout('returns 204, revokes only the presented token, and records auth_logged_out', async () => {
  const alice = await fixture.user('alice', { full_name: 'Alice Lee' });
  const [one, two] = [fixture.as('alice'), fixture.as('alice')];
  fixture.events();
  const response = await one.post(path);
  assert.equal([response.status, response.body], [204, undefined]);
  assert.equal(fixture.events(), [
    {
      type: 'auth_logged_out',
      level: 'info',
      message: 'User alice with full name Alice Lee has logged out.',
      context: {
        ip_address: '127.0.0.1',
        user_uuid: alice.uuid,
        user_username: 'alice',
        user_full_name: 'Alice Lee',
        user_native_name: '',
      },
    },
  ]);
  assert.equal((await one.get('/api/')).body, { detail: 'Invalid token.' });
  assert.is((await one.post(path)).status, 401);
  assert.is((await two.get('/api/')).status, 200);
});

logout('allows POST and OPTIONS', async () => {
  const options = await fixture.staff.options(path);
  assert.equal([options.status, options.headers.get('allow')], [200, 'POST, OPTIONS']);
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE'])
    assert.is((await fixture.staff.send(method, path)).status, 405);
});

logout.run();
