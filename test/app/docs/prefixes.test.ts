/** core.md 3: the names in GET /api/, spelled out; GET /api/configuration/ ignores tokens. */

import * as assert from 'uvu/assert';
import { catalogue } from '../../support/catalogue.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('prefixes of the API');

test.before(async () => {
  await fixture.user('stranger');
});

const common = [
  'alerts',
  'customer-permissions',
  'customer-permissions-log',
  'customers',
  'events',
  'hooks',
  'hooks-email',
  'hooks-push',
  'hooks-web',
  'keys',
  'monitoring-items',
  'project-permissions',
  'project-permissions-log',
  'projects',
  'quotas',
  'resource-sla',
  'resources',
  'service-certifications',
  'service-metadata',
  'service-settings',
  'services',
  'user-invitations',
  'users',
];

test('names every list and nothing else in the root, for all users alike', async () => {
  const { body } = await fixture.as('stranger').get('/api/');
  const provided = [
    ...catalogue.types.flatMap(({ prefix }) => [prefix, `${prefix}-service-project-link`]),
    ...[...catalogue.kinds, ...catalogue.propertyKinds].map(({ kind }) => kind.path),
    'jira-issues',
    'jira-comments',
    'jira-attachments',
  ];
  assert.equal(Object.keys(body), [...common, ...provided].sort());
  assert.equal(body, (await fixture.staff.get('/api/')).body);
  for (const url of Object.values<string>(body)) assert.is((await fixture.as('stranger').get(url)).status, 200, url);
});

test('ignores the Authorization header, also an invalid one, in GET, HEAD and OPTIONS of /api/configuration/', async () => {
  for (const Authorization of [undefined, `Token ${'0'.repeat(40)}`, 'nonsense', 'Token']) {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const { headers, status } = await fixture.anonymous.send(
        method,
        '/api/configuration/',
        undefined,
        Authorization === undefined ? {} : { Authorization },
      );
      assert.equal(
        [status, headers.get('allow'), headers.get('www-authenticate')],
        [200, 'GET, HEAD, OPTIONS', null],
        `${method} ${Authorization}`,
      );
    }
  }
});

test.run();
