import * as assert from 'uvu/assert';
import { day } from '../../../src/kernel/clock.ts';
import { type Json, start } from '../../support/fixture.ts';
import { createPersonas, type Personas } from '../../support/personas.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('invitations (services.md 10.1, 10.3, 10.4)');
const link_template = 'https://app.example.com/invitation/{uuid}/';
let people: Personas;

/** Characters that no text may contain. */
const control = /[\p{Cc}\u202a-\u202e]/u;
const controlMessage = 'Enter a valid text without control characters.';

test.before.each(async () => {
  people = await createPersonas(fixture);
});

const toProject = (fields: Json = {}): Json => ({
  link_template,
  email: 'new@example.com',
  project: people.project.url,
  project_role: 'admin',
  ...fields,
});
const toCustomer = (fields: Json = {}): Json => ({
  link_template,
  email: 'new@example.com',
  customer: people.customer.url,
  customer_role: 'owner',
  ...fields,
});

async function invite(body: Json, client = fixture.staff): Promise<Json> {
  const response = await client.post('/api/user-invitations/', body);
  assert.is(response.status, 201, JSON.stringify(response.body));
  return response.body;
}
const rejection = async (body: Json, client = fixture.staff): Promise<unknown> => {
  const response = await client.post('/api/user-invitations/', body);
  assert.is(response.status, 400, JSON.stringify(response.body));
  return response.body;
};
const emails = async (query: string, client = fixture.staff): Promise<string[]> =>
  (await client.get(`/api/user-invitations/?${query}`)).body.map(({ email }: Json) => email);

test("creates an invitation to a project: 201, Location, and the project's customer without a customer role", async () => {
  const { body, headers, status } = await fixture.staff.post(
    '/api/user-invitations/',
    toProject({ civil_number: ' 123 ' }),
  );
  assert.is(status, 201);
  assert.is(headers.get('Location'), body.url);
  assert.match(body.uuid, /^[0-9a-f]{32}$/);
  assert.equal(body, {
    url: `${fixture.url}/api/user-invitations/${body.uuid}/`,
    uuid: body.uuid,
    link_template,
    email: 'new@example.com',
    civil_number: '123',
    project: people.project.url,
    project_role: 'admin',
    project_name: 'Rocket',
    customer: people.customer.url,
    customer_role: null,
    customer_name: 'Alice',
    state: 'pending',
    error_message: '',
    created: start,
    expires: '2018-01-12T04:47:04Z',
    link: body.link,
    is_mailed: false,
  });
  assert.equal(Object.keys(body), [
    'url',
    'uuid',
    'link_template',
    'email',
    'civil_number',
    'project',
    'project_role',
    'project_name',
    'customer',
    'customer_role',
    'customer_name',
    'state',
    'error_message',
    'created',
    'expires',
    'link',
    'is_mailed',
  ]);
  const { is_mailed, link, ...stored } = body;
  assert.match(link, /^https:\/\/app\.example\.com\/invitation\/[0-9a-f]{32}\/$/);
  assert.equal((await fixture.staff.get(body.url)).body, stored);
  assert.equal(fixture.events(), [], 'inviting is no event');
});

test('creates an invitation to a customer: everything about a project is null', async () => {
  const { customer, customer_name, customer_role, project, project_name, project_role, civil_number } = await invite(
    toCustomer({ customer_role: 'support' }),
  );
  assert.equal(
    { customer, customer_name, customer_role, project, project_name, project_role, civil_number },
    {
      customer: people.customer.url,
      customer_name: 'Alice',
      customer_role: 'support',
      project: null,
      project_name: null,
      project_role: null,
      civil_number: '',
    },
  );
});

test('null and empty text mean no target, in JSON and in forms; read-only fields are ignored', async () => {
  const nothing = { customer: null, customer_role: null, state: 'accepted', error_message: 'x', expires: null };
  assert.is((await invite(toProject(nothing))).state, 'pending');
  const form = new URLSearchParams(toProject({ customer: '', customer_role: '' }));
  assert.is((await fixture.staff.post('/api/user-invitations/', form)).status, 201);
});

test('existing users can be invited, and the same person several times', async () => {
  await fixture.user('known', { email: 'known@example.com' });
  for (const email of ['known@example.com', 'known@example.com']) await invite(toProject({ email }));
  assert.equal(await emails(''), ['known@example.com', 'known@example.com']);
});

test('expires is created plus invitation_lifetime', async () => {
  await fixture.open({ invitation_lifetime: day / 2 });
  people = await createPersonas(fixture);
  assert.is((await invite(toProject())).expires, '2018-01-05T16:47:04Z');
});

test('an invitation moves with its project to another customer, and is deleted with its project or customer', async () => {
  const bob = await fixture.customer('Bob');
  const [first, second] = [await invite(toProject()), await invite(toCustomer({ customer: bob.url }))];
  await fixture.staff.patch(people.project.url, { customer: bob.url });
  const moved = (await fixture.staff.get(first.url)).body;
  assert.equal([moved.customer, moved.customer_name], [bob.url, 'Bob']);
  assert.equal(await emails('', people.clients.owner), []);
  await fixture.staff.delete(people.project.url);
  assert.is((await fixture.staff.get(first.url)).status, 404);
  assert.is((await fixture.staff.get(second.url)).status, 200);
  await fixture.staff.delete(bob.url);
  assert.is((await fixture.staff.get(second.url)).status, 404);
});

test('an invitation outlives its inviter; the next user who sends it becomes the inviter', async () => {
  const { url } = await invite(toProject(), people.clients.owner);
  await fixture.staff.delete(people.users.owner.url);
  assert.is((await fixture.staff.get(url)).body.state, 'pending');
  await fixture.staff.post(`${url}send/`);
  const newcomer = await fixture.user('newcomer');
  assert.is((await fixture.as('newcomer').post(`${url}accept/`)).status, 200);
  const [permission] = (await fixture.staff.get(`/api/project-permissions/?user=${newcomer.uuid}`)).body;
  assert.is(permission.created_by, (await fixture.staff.get('/api/users/?current')).body[0].url);
});

test('returns 405 for PUT, PATCH and DELETE', async () => {
  const { url } = await invite(toProject());
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const { body, headers, status } = await fixture.staff.send(method, url);
    assert.equal(
      [status, body, headers.get('Allow')],
      [405, { detail: `Method "${method}" not allowed.` }, 'GET, HEAD, OPTIONS'],
    );
  }
});

test('reports every invalid field; link_template and email are required', async () => {
  assert.equal(await rejection({}), { link_template: ['This field is required.'], email: ['This field is required.'] });
  assert.equal(
    await rejection({
      link_template: 'x'.repeat(256),
      email: 'nobody',
      civil_number: 'x'.repeat(51),
      project: '/api/nothing/',
      project_role: 'owner',
      customer: 7,
      customer_role: 'admin',
    }),
    {
      link_template: ['Ensure this field has no more than 255 characters.'],
      email: ['Enter a valid email address.'],
      civil_number: ['Ensure this field has no more than 50 characters.'],
      project: ['Invalid hyperlink - No URL match.'],
      project_role: ['"owner" is not a valid choice.'],
      customer: ['Incorrect type. Expected URL string, received int.'],
      customer_role: ['"admin" is not a valid choice.'],
    },
  );
  assert.equal(await rejection(toProject({ email: `${'x'.repeat(250)}@example.com` })), {
    email: ['Ensure this field has no more than 254 characters.'],
  });
  assert.equal(await rejection(toProject({ civil_number: null })), { civil_number: ['This field may not be null.'] });
});

test('rejects links to invisible objects with 400 before it checks any right', async () => {
  const missing = ['Invalid hyperlink - Object does not exist.'];
  assert.equal(await rejection(toProject(), people.clients.stranger), { project: missing });
  assert.equal(await rejection(toCustomer(), people.clients.stranger), { customer: missing });
  assert.equal(await rejection(toProject({ project: people.customer.url })), {
    project: ['Invalid hyperlink - Incorrect URL match.'],
  });
});

test('rejects a link_template without {uuid} before it checks rules across fields', async () => {
  const message = { link_template: ["Link template must include '{uuid}' parameter."] };
  for (const template of ['https://app.example.com/', 'https://app.example.com/{UUID}', 'nothing']) {
    assert.equal(await rejection({ link_template: template, email: 'new@example.com' }), message, template);
  }
});

test('accepts as link_template only http and https URLs without user information or ambiguous characters', async () => {
  for (const template of [
    'javascript:alert("{uuid}")',
    'ftp://app.example.com/{uuid}',
    'data:text/html,{uuid}',
    '//app.example.com/{uuid}',
    '/invitation/{uuid}',
    'app.example.com/{uuid}',
    '{uuid}',
    'https://{uuid}@evil.example/',
    'https://app.example.com@evil.example/{uuid}',
    'https://app.example.com\\@evil.example/{uuid}',
    'https://app.example.com/ {uuid}',
    'https://app.example.com/\n{uuid}',
    'https://app.example.com/"{uuid}',
    'https://app.example.com/<b>{uuid}',
    'https://:80/{uuid}',
    'https:///app.example.com/{uuid}',
    'https:////app.example.com/{uuid}',
    'https://@app.example.com/{uuid}',
    'https://:@app.example.com/{uuid}',
    'https://app.example.com:{uuid}/',
    'https://app.example.com/\u0007{uuid}',
    'https://app.example.com/\u007f{uuid}',
    'https://app.example.com/\u202e{uuid}',
    'https://app\u00ad.example.com/{uuid}',
  ]) {
    assert.equal(
      await rejection(toProject({ link_template: template })),
      { link_template: [control.test(template) ? controlMessage : 'Enter a valid URL.'] },
      template,
    );
  }
  for (const template of [
    'http://localhost:3000/#/invitation/{uuid}/',
    'HTTPS://app.example.com/?invitation={uuid}&again={uuid}',
    'https://bücher.example/{uuid}',
    'https://app.example.com/@new/{uuid}',
    'https://app.example.com?{uuid}',
  ]) {
    assert.is((await invite(toProject({ link_template: template }))).link_template, template);
  }
});

test('link_template_hosts restricts the hosts of templates; an entry with a port allows only that port', async () => {
  await fixture.open({ link_template_hosts: ['app.example.com', 'localhost:3000', '[::1]'] });
  people = await createPersonas(fixture);
  for (const template of [
    'https://app.example.com/{uuid}',
    'http://APP.example.com:8080/{uuid}',
    'http://localhost:3000/{uuid}',
    'http://[0::1]/{uuid}',
  ]) {
    await invite(toProject({ link_template: template }));
  }
  for (const template of [
    'https://evil.example/{uuid}',
    'https://app.example.com.evil.example/{uuid}',
    'https://sub.app.example.com/{uuid}',
    'http://localhost/{uuid}',
    'http://localhost:3001/{uuid}',
    'https://evil.example/app.example.com/{uuid}',
    'https://evil.example/?app.example.com={uuid}',
    'https://app.example.com./{uuid}',
    'https://{uuid}.app.example.com/',
  ]) {
    assert.equal(
      await rejection(toProject({ link_template: template })),
      { link_template: ['Host is not allowed.'] },
      template,
    );
  }
});

test('a default port in link_template_hosts matches links without a port', async () => {
  await fixture.open({ link_template_hosts: ['app.example.com:443'] });
  people = await createPersonas(fixture);
  for (const template of ['https://app.example.com/{uuid}', 'https://app.example.com:443/{uuid}'])
    await invite(toProject({ link_template: template }));
  for (const template of ['http://app.example.com/{uuid}', 'https://app.example.com:8443/{uuid}']) {
    assert.equal(
      await rejection(toProject({ link_template: template })),
      { link_template: ['Host is not allowed.'] },
      template,
    );
  }
});

test('rejects invisible characters in an email', async () => {
  for (const hidden of ['\u0001', '\u007f', '\u0085', '\u200b', '\u202e']) {
    assert.equal(
      await rejection(toProject({ email: `a${hidden}b@example.com` })),
      { email: [...(control.test(hidden) ? [controlMessage] : []), 'Enter a valid email address.'] },
      JSON.stringify(hidden),
    );
  }
  await invite(toProject({ email: 'jürgen@bücher.example' }));
});

test('requires either a project or a customer, with a role of that kind', async () => {
  const { customer, customer_role } = toCustomer();
  const { project, project_role } = toProject();
  const base = { link_template, email: 'new@example.com' };
  const [both, none] = [
    'Cannot create invitation to project and customer simultaneously.',
    'Customer or project must be provided.',
  ];
  const [ofCustomer, ofProject] = [
    { customer_role: ['Customer and its role must be provided.'] },
    { project_role: ['Project and its role must be provided.'] },
  ];
  assert.equal(await rejection({ ...base, customer, customer_role, project, project_role }), {
    non_field_errors: [both],
  });
  assert.equal(await rejection({ ...base, customer, project }), { non_field_errors: [both] });
  assert.equal(await rejection(base), { non_field_errors: [none] });
  assert.equal(await rejection({ ...base, customer_role, project_role }), { non_field_errors: [none] });
  assert.equal(await rejection({ ...base, customer }), ofCustomer);
  assert.equal(await rejection({ ...base, customer, project_role }), ofCustomer);
  assert.equal(await rejection({ ...base, project, project_role, customer_role }), ofCustomer);
  assert.equal(await rejection({ ...base, project }), ofProject);
  assert.equal(await rejection({ ...base, customer, customer_role, project_role }), ofProject);
});

test('lists the newest first; o orders by email, state and created', async () => {
  for (const email of ['b@example.com', 'C@example.com', 'a@example.com']) {
    await invite(toProject({ email }));
    fixture.clock.advance(1);
  }
  await fixture.staff.post(
    `${(await fixture.staff.get('/api/user-invitations/?email=b@example.com')).body[0].url}cancel/`,
  );
  const [a, b, c] = ['a@example.com', 'b@example.com', 'C@example.com'];
  assert.equal(await emails(''), [a, c, b]);
  assert.equal(await emails('o=created'), [b, c, a]);
  assert.equal(await emails('o=email'), [a, b, c]);
  assert.equal(await emails('o=-email'), [c, b, a]);
  assert.equal(await emails('o=state,email'), [b, a, c]);
  assert.equal((await fixture.staff.get('/api/user-invitations/?o=name')).body, {
    o: ['"name" is not a valid choice.'],
  });
});

test('filters by customer including its projects, project, state, email, civil number and roles', async () => {
  const bob = await fixture.customer('Bob');
  const [p, c, other] = ['project@example.com', 'customer@example.com', 'other@example.com'];
  await invite(toProject({ email: p, civil_number: '12' }));
  await invite(toCustomer({ email: c }));
  const { url } = await invite(toCustomer({ email: other, customer: bob.url, customer_role: 'support' }));
  await fixture.staff.post(`${url}cancel/`);
  const expected: readonly (readonly [string, readonly string[]])[] = [
    [`customer=${people.customer.uuid}`, [c, p]],
    [`customer_url=${people.customer.url}`, [c, p]],
    [`customer=${bob.uuid}`, [other]],
    [`customer=${'0'.repeat(32)}`, []],
    [`project=${people.project.uuid}`, [p]],
    [`project_url=${people.project.url}`, [p]],
    [`project=${people.project.uuid}&customer=${bob.uuid}`, []],
    ['state=pending', [c, p]],
    ['state=pending&state=canceled', [other, c, p]],
    ['state=nothing', []],
    [`email=${p}`, [p]],
    ['email=project', []],
    ['civil_number=12', [p]],
    ['civil_number=1', []],
    ['customer_role=owner', [c]],
    ['customer_role=support', [other]],
    ['project_role=admin', [p]],
    ['project_role=manager', []],
    ['nothing=1', [other, c, p]],
  ];
  for (const [query, matches] of expected) assert.equal(await emails(query), matches, query);
  for (const name of ['customer', 'project']) {
    assert.equal((await fixture.staff.get(`/api/user-invitations/?${name}=x`)).body, {
      [name]: ['"x" is not a valid UUID.'],
    });
    assert.equal((await fixture.staff.get(`/api/user-invitations/?${name}_url=/api/users/`)).body, {
      [`${name}_url`]: ['Invalid hyperlink - Incorrect URL match.'],
    });
  }
});

test('staff see every invitation, owners those to projects of their customers, others none', async () => {
  const bob = await fixture.customer('Bob');
  const urls = [
    await invite(toProject({ email: 'p@example.com' })),
    await invite(toCustomer({ email: 'c@example.com' })),
    await invite(toCustomer({ email: 'b@example.com', customer: bob.url })),
  ];
  assert.equal(await emails('', people.clients.staff), ['b@example.com', 'c@example.com', 'p@example.com']);
  assert.equal(await emails('', people.clients.owner), ['p@example.com']);
  for (const { url } of urls.slice(1)) assert.is((await people.clients.owner.get(url)).status, 404);
  for (const part of ['support', 'helper', 'manager', 'admin', 'observer', 'stranger'] as const) {
    assert.equal(await emails('', people.clients[part]), [], part);
    assert.is((await people.clients[part].get(urls[0].url)).status, 404, part);
  }
});

test('OPTIONS describes the fields of an invitation, and the actions to users who may perform them', async () => {
  const { url } = await invite(toProject());
  const { POST } = (await people.clients.owner.options('/api/user-invitations/')).body.actions;
  assert.equal(
    [POST.email.type, POST.email.required, POST.project.type, POST.project.required, POST.state.read_only],
    ['email', true, 'field', false, true],
  );
  assert.equal(POST.project_role.choices, [
    { value: 'admin', display_name: 'Administrator' },
    { value: 'manager', display_name: 'Manager' },
    { value: 'support', display_name: 'Support' },
  ]);
  for (const action of ['cancel', 'send']) {
    assert.equal((await people.clients.owner.options(`${url}${action}/`)).body.actions, { POST: {} });
    for (const part of ['support', 'manager'] as const)
      assert.is((await people.clients[part].options(`${url}${action}/`)).status, 404, part);
  }
  assert.equal(Object.keys((await people.clients.stranger.options(`${url}accept/`)).body.actions.POST), [
    'replace_email',
  ]);
});

test.run();
