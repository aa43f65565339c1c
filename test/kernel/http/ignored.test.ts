/** Names that an operation does not know: reported, or rejected with strict_input (core.md 1.5). */
import * as assert from 'uvu/assert';
import { type ApiResponse, Fixture, type Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: ignored, fixture } = suiteWithServer('ignored input');
let strict: Fixture;
ignored.before(async () => {
  strict = await Fixture.start({ strict_input: true });
});
ignored.after(() => strict.close());

const header = ({ headers }: ApiResponse<Json>) => headers.get('x-ignored');
const reports = ({ body, status }: ApiResponse<Json>) => [status, body];

ignored('reports parameters and members that an operation does not have in X-Ignored', async () => {
  const { staff } = fixture;
  const created = await staff.post('/api/customers/?dry=1', {
    name: 'x',
    nmae: 'y',
    'odd "name"': 1,
    uuid: 'kept',
    url: 'kept',
  });
  assert.equal([created.status, header(created)], [201, 'query dry; body nmae, odd%20%22name%22']);
  assert.is(header(await staff.get('/api/customers/?nmae=x&page=1&o=name&field=name&name=x&foo')), 'query nmae, foo');
  assert.is(header(await staff.get('/api/customers/?nmae=x')), 'query nmae');
  assert.is(header(await staff.get('/api/customers/?nmae=x')), 'query nmae', 'remembered');
  assert.is(header(await staff.get('/api/resources/?tag__a=b&monitoring__c=1&tagged=1')), 'query tagged');
  assert.is(header(await staff.get('/docs/?format=openapi&x=y')), 'query x');
  assert.is(header(await staff.get(created.body.url)), null);
  assert.is(header(await staff.put(created.body.url, (await staff.get(created.body.url)).body)), null);
  for (const rejection of [
    await staff.get('/api/customers/?page=99&nmae=1'),
    await staff.post('/api/customers/?dry', { nmae: 'x' }),
    await staff.get('/api/users/?is_active=2&nmae=1'),
    await fixture.anonymous.get('/api/customers/?nmae=1'),
    await staff.send('PUT', '/api/customers/?nmae=1', {}),
  ]) {
    assert.ok(rejection.status >= 400);
    assert.is(header(rejection), null, `${rejection.status}`);
  }
  const user = await staff.post('/api/users/', { username: 'typo', password: 'secret-1' });
  assert.equal([user.status, header(user)], [201, 'body password']);
});

ignored('truncates each name, and reports twenty', async () => {
  const names = Array.from({ length: 25 }, (_, i) => `n${i}`);
  const many = await fixture.staff.get(`/api/version/?${names.map((name) => `${name}=1`).join('&')}`);
  assert.is(header(many), `query ${names.slice(0, 20).join(', ')}`);
  assert.is(header(await fixture.staff.get(`/api/version/?${'x'.repeat(100)}=1`)), `query ${'x'.repeat(40)}`);
  assert.is(header(await fixture.staff.get('/api/version/?%0D%0AX:%20y=1')), 'query %0D%0AX%3A%20y');
});

ignored('with strict_input they are 400, together with other errors, and nothing changes', async () => {
  const { staff } = strict;
  assert.equal(reports(await staff.get('/api/users/?nmae=x&is_active=2&o=odd')), [
    400,
    { is_active: ['"2" is not a valid boolean.'], o: ['"odd" is not a valid choice.'], nmae: ['Unknown parameter.'] },
  ]);
  assert.equal(reports(await staff.get('/api/customers/?nmae=x')), [400, { nmae: ['Unknown parameter.'] }]);
  assert.equal(reports(await staff.get('/api/customers/?nmae=x&page=99')), [400, { nmae: ['Unknown parameter.'] }]);
  assert.equal(reports(await staff.post('/api/customers/?dry', { nmae: 'x' })), [
    400,
    { name: ['This field is required.'], dry: ['Unknown parameter.'], nmae: ['Unknown field.'] },
  ]);
  const customer = await strict.customer('Ministry');
  await strict.project('Bridge', customer);
  strict.events();
  assert.equal(reports(await staff.delete(`${customer.url}?force=1`)), [400, { force: ['Unknown parameter.'] }]);
  assert.equal(reports(await staff.patch(customer.url, { nmae: 'x', name: 'y' })), [400, { nmae: ['Unknown field.'] }]);
  assert.equal(reports(await staff.patch(`${customer.url}?nmae=x`, { nmae: 'x', name: 'y' })), [
    400,
    { nmae: ['Unknown parameter.', 'Unknown field.'] },
  ]);
  assert.equal(strict.events(), []);
  assert.equal([(await staff.get(customer.url)).body.name], ['Ministry']);
  assert.is((await staff.put(customer.url, (await staff.get(customer.url)).body)).status, 200);
  assert.is((await staff.get('/api/invoices/?anything=1')).status, 200);
  await strict.user('reader');
  assert.is((await strict.as('reader').patch(customer.url, { nmae: 'x' })).status, 404);
});

ignored('with strict_input a value outside of a fixed vocabulary is 400, without it matches nothing', async () => {
  for (const [path, name] of [
    ['/api/resources/', 'state'],
    ['/api/service-settings/', 'state'],
    ['/api/services/', 'state'],
    ['/api/user-invitations/', 'state'],
    ['/api/customer-permissions/', 'role'],
    ['/api/alerts/', 'severity'],
    ['/api/events/', 'event_type'],
    ['/api/events/', 'feature'],
    ['/api/events/', 'resource_type'],
    ['/api/resources/', 'resource_type'],
    ['/api/resources/', 'category'],
    ['/api/resources/', 'resource_category'],
    ['/api/services/', 'service_type'],
    ['/api/service-settings/', 'type'],
    ['/api/user-invitations/', 'customer_role'],
    ['/api/user-invitations/', 'project_role'],
    ['/api/service-accounts/', 'role'],
    ['/api/hooks-web/', 'content_type'],
    ['/api/hooks-push/', 'type'],
  ] as const) {
    assert.equal(
      [path, ...reports(await strict.staff.get(`${path}?${name}=OKK`))],
      [path, 400, { [name]: ['"OKK" is not a valid choice.'] }],
    );
    assert.equal([path, ...reports(await fixture.staff.get(`${path}?${name}=OKK`))], [path, 200, []]);
  }
  for (const path of [
    'resources/?state=OK',
    'resources/?resource_type=DigitalOcean.Droplet&resource_type=OpenStack.Tenant',
    'resources/?category=vms',
    'events/?resource_type=DigitalOcean.Droplet',
    'services/?service_type=OpenStack',
    'service-settings/?type=openSTACK',
    'user-invitations/?customer_role=owner&project_role=manager',
    'hooks-web/?content_type=form',
    'hooks-push/?type=iOS',
    // Alert types and runtime states are free text.
    'alerts/?alert_type=budget_nearly_spent',
    'resources/?runtime_state=rebooting',
  ])
    assert.equal([path, (await strict.staff.get(`/api/${path}`)).status], [path, 200]);
});

ignored.run();
