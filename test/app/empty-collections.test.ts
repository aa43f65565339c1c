/** Collections that clients of other installations request, GET /, and the scheme Bearer (core.md 2.2, 3). */
import { createServer } from 'tenantry';
import * as assert from 'uvu/assert';
import { version } from '../../src/kernel/app.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test: absent, fixture } = suiteWithServer('empty collections');

absent('returns empty lists to callers with a token, with any query', async () => {
  for (const query of ['', '?page=7&field=x&o=name'])
    for (const name of ['project-types', 'invoices', 'applications']) {
      const response = await fixture.staff.get(`/api/${name}/${query}`);
      assert.equal(
        [response.status, response.body, response.headers.get('x-result-count'), response.headers.get('allow')],
        [200, [], '0', 'GET, HEAD, OPTIONS'],
      );
      assert.not.ok(response.headers.has('x-ignored'));
    }
  assert.is((await fixture.staff.send('HEAD', '/api/invoices/')).status, 200);
  assert.is((await fixture.anonymous.get('/api/invoices/')).status, 401);
  assert.equal((await fixture.staff.options('/api/project-types/')).body, {
    name: 'Project types List',
    description: 'A collection that this installation does not have.',
    renders: ['application/json'],
    parses: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
  });
  assert.is((await fixture.staff.post('/api/invoices/', {})).status, 405);
  assert.is((await fixture.staff.get(`/api/invoices/${'0'.repeat(32)}/`)).status, 404);
  assert.not.ok('invoices' in (await fixture.staff.get('/api/')).body);
  assert.not.ok('/api/invoices/' in (await fixture.staff.get('/docs/')).body.paths);
});

absent('rejects the name of an existing collection at start', async () => {
  await createServer({ ephemeral: true, port: 0, log_level: 'silent', empty_collections: ['x', 'customers'] }).then(
    () => assert.unreachable(),
    (error) => assert.is(error.message, 'TENANTRY_EMPTY_COLLECTIONS must not list "customers", which exists'),
  );
});

absent('describes the server at /, and serves the console to browsers', async () => {
  const description = await fixture.anonymous.get('/');
  assert.equal(
    [description.status, description.body, description.headers.get('allow')],
    [
      200,
      { name: 'Tenantry', version, api: `${fixture.url}/api/`, docs: `${fixture.url}/docs/` },
      'GET, HEAD, OPTIONS',
    ],
  );
  const page = await fixture.anonymous.get('/', { Accept: 'text/html,*/*' });
  assert.equal([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
});

absent('accepts Bearer like Token', async () => {
  const ask = (Authorization: string) => fixture.anonymous.get('/api/customers/', { Authorization });
  assert.is((await ask(`Bearer ${fixture.staff.token}`)).status, 200);
  assert.is((await ask(`bearer ${fixture.staff.token}`)).status, 200);
  const wrong = await ask('Bearer x');
  assert.equal(
    [wrong.status, wrong.body, wrong.headers.get('www-authenticate')],
    [401, { detail: 'Invalid token.' }, 'Token'],
  );
  assert.equal((await ask('Bearer')).body, { detail: 'Invalid token. No credentials provided.' });
});

absent.run();
