import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { expectedEvent, inProject } from '../../support/expected-event.ts';
import { byStaff, type Json, start } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('projects (core.md 7.1, 7.3)');
let actor: Record<string, string>;
let customer: Json;

test.before(async () => {
  actor = await byStaff(fixture);
  customer = await fixture.customer('Alice', {
    native_name: 'Алиса',
    abbreviation: 'ALC',
    contact_details: 'Baker Street',
  });
});
test.before.each(() => {
  fixture.events();
});

const projectEvent = (type: string, message: string, project: Json) =>
  expectedEvent(type, message, actor, inProject(project, customer));

test('creation returns the complete project with its keys in order', async () => {
  const { status, body, headers } = await fixture.staff.post('/api/projects/', {
    name: 'Rocket',
    customer: customer.url,
    description: 'To the moon',
  });
  assert.is(status, 201);
  assert.is(headers.get('location'), body.url);
  assert.match(body.uuid, /^[0-9a-f]{32}$/);
  assert.equal(
    Object.entries(body),
    Object.entries({
      url: `${fixture.url}/api/projects/${body.uuid}/`,
      uuid: body.uuid,
      name: 'Rocket',
      customer: customer.url,
      customer_uuid: customer.uuid,
      customer_name: 'Alice',
      customer_native_name: 'Алиса',
      customer_abbreviation: 'ALC',
      description: 'To the moon',
      quotas: body.quotas,
      services: [],
      created: start,
      certifications: [],
    }),
  );
  assert.equal((await fixture.staff.get(body.url)).body, body);
  assert.equal(fixture.events(), [
    projectEvent('project_creation_succeeded', 'Project Rocket has been created.', body),
  ]);
});

test('a new project has its ten quotas, unlimited and unused, ordered by name; a body cannot set them', async () => {
  const { quotas } = await fixture.project('Quoted', customer, { quotas: [{ name: 'nc_vm_count', limit: 1 }] });
  assert.equal(
    quotas.map((quota: Json) => [quota.name, quota.limit, quota.usage]),
    [
      ['nc_app_count', -1, 0],
      ['nc_private_cloud_count', -1, 0],
      ['nc_resource_count', -1, 0],
      ['nc_service_project_link_count', -1, 0],
      ['nc_snapshot_count', -1, 0],
      ['nc_snapshot_size', -1, 0],
      ['nc_storage_count', -1, 0],
      ['nc_vm_count', -1, 0],
      ['nc_volume_count', -1, 0],
      ['nc_volume_size', -1, 0],
    ],
  );
  for (const quota of quotas) {
    assert.equal(Object.keys(quota), ['url', 'uuid', 'name', 'limit', 'usage']);
    assert.is(quota.url, `${fixture.url}/api/quotas/${quota.uuid}/`);
  }
});

test('requires name and customer', async () => {
  const required = ['This field is required.'];
  assert.equal((await fixture.staff.post('/api/projects/', {})).body, { name: required, customer: required });
  assert.equal((await fixture.staff.post('/api/projects/')).body, { name: required, customer: required });
  const { description, certifications } = await fixture.project('Bare', customer);
  assert.equal([description, certifications], ['', []]);
});

test('names are not unique', async () => {
  await fixture.project('Twin', customer);
  assert.is((await fixture.project('Twin', customer)).name, 'Twin');
});

test('every field rejects values of another type or beyond its limit', async () => {
  const missing = customer.url.replace(customer.uuid, '0'.repeat(32));
  const user = (await fixture.user('notacustomer')).url;
  fixture.events();
  const string = ['Not a valid string.'];
  const cases: [object, object][] = [
    ...[true, ['x'], { x: 1 }].flatMap((value): [object, object][] => [
      [{ name: value }, { name: string }],
      [{ description: value }, { description: string }],
    ]),
    [{ name: null }, { name: ['This field may not be null.'] }],
    [{ name: '  ' }, { name: ['This field may not be blank.'] }],
    [{ name: 'x'.repeat(151) }, { name: ['Ensure this field has no more than 150 characters.'] }],
    [{ description: null }, { description: ['This field may not be null.'] }],
    [{ description: 'x'.repeat(501) }, { description: ['Ensure this field has no more than 500 characters.'] }],
    [{ description: '\0' }, { description: ['Null characters are not allowed.'] }],
    [{ customer: null }, { customer: ['This field may not be null.'] }],
    [{ customer: '' }, { customer: ['This field may not be null.'] }],
    [{ customer: 5 }, { customer: ['Incorrect type. Expected URL string, received int.'] }],
    [{ customer: 1.5 }, { customer: ['Incorrect type. Expected URL string, received float.'] }],
    [{ customer: true }, { customer: ['Incorrect type. Expected URL string, received bool.'] }],
    [{ customer: [customer.url] }, { customer: ['Incorrect type. Expected URL string, received list.'] }],
    [{ customer: { url: customer.url } }, { customer: ['Incorrect type. Expected URL string, received dict.'] }],
    [{ customer: 'Alice' }, { customer: ['Invalid hyperlink - No URL match.'] }],
    [{ customer: customer.uuid }, { customer: ['Invalid hyperlink - No URL match.'] }],
    [{ customer: `${fixture.url}/nowhere/` }, { customer: ['Invalid hyperlink - No URL match.'] }],
    [{ customer: user }, { customer: ['Invalid hyperlink - Incorrect URL match.'] }],
    [{ customer: `${fixture.url}/api/customers/` }, { customer: ['Invalid hyperlink - Incorrect URL match.'] }],
    [{ customer: missing }, { customer: ['Invalid hyperlink - Object does not exist.'] }],
  ];
  for (const [fields, errors] of cases) {
    const response = await fixture.staff.post('/api/projects/', { name: 'Wrong', customer: customer.url, ...fields });
    assert.equal([response.status, response.body], [400, errors], JSON.stringify(fields).slice(0, 80));
  }
  assert.equal(fixture.events(), []);
  assert.equal((await fixture.staff.get('/api/projects/?name=Wrong')).body, []);
});

test('accepts any host, or none, in the link of the customer', async () => {
  const path = `/api/customers/${customer.uuid}/`;
  for (const link of [
    path,
    path.slice(0, -1),
    `https://elsewhere.example${path}`,
    ` ${customer.url} `,
    `${customer.url}?x=1`,
    `/api/customers/${customer.uuid.toUpperCase()}/`,
  ]) {
    const response = await fixture.staff.post('/api/projects/', { name: 'Linked', customer: link });
    assert.equal([response.status, response.body.customer], [201, customer.url], link);
  }
});

test('the creator gets no role', async () => {
  const { url } = await fixture.project('Nobody', customer);
  assert.equal((await fixture.staff.get(`${url}users/`)).body, []);
});

test('a form and a multipart body create the same project as JSON', async () => {
  const fields = { name: 'Formed', customer: customer.url, description: 'by form', certifications: '[]' };
  const multipart = new FormData();
  for (const [name, value] of Object.entries(fields)) multipart.set(name, value);
  for (const body of [new URLSearchParams(fields), multipart]) {
    const response = await fixture.staff.send('POST', '/api/projects/', body);
    assert.is(response.status, 201);
    assert.equal(
      [response.body.name, response.body.customer, response.body.description, response.body.certifications],
      ['Formed', customer.url, 'by form', []],
    );
  }
});

test('PUT requires name and customer, and leaves a missing description unchanged', async () => {
  const project = await fixture.project('Unchanged', customer, { description: 'stays' });
  const required = ['This field is required.'];
  assert.equal((await fixture.staff.put(project.url, {})).body, { name: required, customer: required });
  const { status, body } = await fixture.staff.put(project.url, { name: 'Still unchanged', customer: customer.url });
  assert.equal([status, body], [200, { ...project, name: 'Still unchanged' }]);
});

test('PUT of the complete representation changes nothing and records no event', async () => {
  const project = await fixture.project('Echo', customer, { description: 'echo' });
  fixture.events();
  assert.equal((await fixture.staff.put(project.url, project)).body, project);
  assert.equal((await fixture.staff.patch(project.url, {})).body, project);
  assert.equal((await fixture.staff.patch(project.url, { customer: customer.url })).body, project);
  assert.equal(fixture.events(), []);
});

test('ignores read-only keys', async () => {
  const project = await fixture.project('Own', customer);
  const { status, body } = await fixture.staff.patch(project.url, {
    url: 1,
    uuid: 'x',
    customer_uuid: 5,
    customer_name: {},
    customer_native_name: 'x',
    customer_abbreviation: [],
    quotas: 'x',
    services: 'x',
    created: 'x',
    certifications: 'x',
    type: 'x',
  });
  assert.equal([status, body], [200, project]);
});

test('the event of an update lists every changed field with its old and new value', async () => {
  const project = await fixture.project('Old', customer);
  fixture.events();
  const renamed = (await fixture.staff.patch(project.url, { name: "New 'one'" })).body;
  assert.equal(fixture.events(), [
    projectEvent(
      'project_update_succeeded',
      "Project New 'one' has been updated. Name has been changed from 'Old' to 'New 'one''.",
      renamed,
    ),
  ]);
  await fixture.staff.patch(project.url, { description: 'said {project_name}' });
  assert.equal(fixture.events(), [
    projectEvent(
      'project_update_succeeded',
      "Project New 'one' has been updated. Description has been changed from '' to 'said {project_name}'.",
      renamed,
    ),
  ]);
  const both = (await fixture.staff.put(project.url, { description: '', name: 'Last', customer: customer.url })).body;
  assert.equal(fixture.events(), [
    projectEvent(
      'project_update_succeeded',
      "Project Last has been updated. Name has been changed from 'New 'one'' to 'Last'. Description has been changed from 'said {project_name}' to ''.",
      both,
    ),
  ]);
});

test('a rejected update changes nothing', async () => {
  const project = await fixture.project('Firm', customer);
  fixture.events();
  assert.is((await fixture.staff.patch(project.url, { name: 'Soft', description: 'x'.repeat(501) })).status, 400);
  assert.equal((await fixture.staff.get(project.url)).body, project);
  assert.equal(fixture.events(), []);
});

test('DELETE returns 204 and removes the project', async () => {
  const project = await fixture.project('Passing', customer);
  fixture.events();
  const response = await fixture.staff.delete(project.url);
  assert.equal([response.status, response.body], [204, undefined]);
  assert.equal(fixture.events(), [
    projectEvent('project_deletion_succeeded', 'Project Passing has been deleted.', project),
  ]);
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    const { status, body } = await fixture.staff.send(method, project.url);
    assert.equal([status, body], [404, { detail: 'Not found.' }]);
  }
});

test('deleting a project deletes its roles, their history and quotas, after an event for each active role', async () => {
  const project = await fixture.project('Ending', customer);
  const people = [];
  for (const username of ['ending.manager', 'ending.admin', 'ending.support', 'ending.past'])
    people.push(await fixture.user(username));
  const [manager, admin, support, past] = people as [Json, Json, Json, Json];
  await fixture.grant(project, manager, 'manager');
  await fixture.grant(project, admin, 'admin', '2020-01-01T00:00:00Z');
  await fixture.grant(project, support, 'support');
  await fixture.staff.delete((await fixture.grant(project, past, 'admin')).url);
  fixture.events();
  assert.is((await fixture.staff.delete(project.url)).status, 204);
  const lost = (user: Json, role_name: string) => ({
    type: 'role_revoked',
    level: 'info',
    message: `User ${user.username} has lost role of ${role_name} in project Ending.`,
    context: {
      ...actor,
      ...inProject(project, customer),
      affected_user_uuid: user.uuid,
      affected_user_username: user.username,
      affected_user_full_name: '',
      affected_user_native_name: '',
      structure_type: 'project',
      role_name,
    },
  });
  assert.equal(fixture.events(), [
    lost(manager, 'Manager'),
    lost(admin, 'Administrator'),
    lost(support, 'Support'),
    projectEvent('project_deletion_succeeded', 'Project Ending has been deleted.', project),
  ]);
  for (const path of ['project-permissions', 'project-permissions-log']) {
    for (const user of people) assert.equal((await fixture.staff.get(`/api/${path}/?user=${user.uuid}`)).body, []);
  }
  const { db } = fixture.server.app;
  assert.is(
    db.value(sql`SELECT count(*) FROM quota WHERE scope_kind = 'project' AND scope_id NOT IN (SELECT id FROM project)`),
    0,
  );
  assert.is(db.value(sql`SELECT count(*) FROM project_role WHERE project_id NOT IN (SELECT id FROM project)`), 0);
});

test("the customer's names in a project follow the customer", async () => {
  const owner = await fixture.customer('Before');
  const project = await fixture.project('Follower', owner);
  await fixture.staff.patch(owner.url, { name: 'After', native_name: 'Потом', abbreviation: 'AFT' });
  const { customer_name, customer_native_name, customer_abbreviation } = (await fixture.staff.get(project.url)).body;
  assert.equal([customer_name, customer_native_name, customer_abbreviation], ['After', 'Потом', 'AFT']);
});

test('OPTIONS describes the fields to all callers who may send it', async () => {
  const { url } = await fixture.project('Described', customer);
  const list = (await fixture.staff.options('/api/projects/')).body;
  assert.equal([list.name, Object.keys(list.actions)], ['Project List', ['POST']]);
  assert.equal(list.actions.POST.customer, { type: 'field', required: true, read_only: false, label: 'Customer' });
  assert.is(list.actions.POST.certifications.read_only, false);
  const detail = (await fixture.staff.options(url)).body;
  assert.equal([detail.name, Object.keys(detail.actions)], ['Project Instance', ['PUT']]);
  assert.is(detail.actions.PUT.certifications.read_only, true);
});

test.run();
