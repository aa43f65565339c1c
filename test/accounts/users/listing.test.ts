import * as assert from 'uvu/assert';
import type { Client, Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('filters and orderings of users (core.md 4.5)');
let support: Client;
let owner: Client;
let users: Record<string, Json>;
let alpha: Json;
let beta: Json;
let alphaProject: Json;
let betaProject: Json;

test.before(async () => {
  users = {};
  const people: Record<string, Record<string, unknown>> = {
    anna: {
      full_name: 'Anna Åström',
      native_name: 'Анна',
      job_title: 'Engineer',
      email: 'anna@alpha.example',
      phone_number: '+372 100',
      civil_number: 'C-100',
      description: 'First',
      organization: 'Alpha',
    },
    bob: {
      full_name: 'bob Stone',
      native_name: 'Боб',
      job_title: 'Cook',
      email: 'bob@beta.example',
      phone_number: '+372 200',
      civil_number: 'C-200',
      description: 'Second',
      organization: 'Beta',
    },
    carol: { full_name: 'Carol 100%', job_title: 'engineer', organization: 'alpha' },
    dora: { full_name: 'Dora', is_active: false },
    eve: { is_support: true },
    frank: { is_staff: true },
    gus: { organization: 'Alpha' },
    helen: { organization: 'Gamma, Inc' },
  };
  for (const [name, fields] of Object.entries(people)) {
    users[name] = await fixture.user(name, fields);
    fixture.clock.advance(1);
  }
  const { anna, bob, carol, dora, eve, frank, gus } = users;
  alpha = await fixture.customer('Alpha');
  beta = await fixture.customer('Beta');
  alphaProject = await fixture.project('A', alpha);
  betaProject = await fixture.project('B', beta);
  await fixture.grant(alpha, anna, 'owner');
  await fixture.grant(alphaProject, carol, 'admin');
  await fixture.grant(alphaProject, dora, 'support');
  await fixture.grant(alpha, frank, 'support');
  await fixture.grant(betaProject, bob, 'manager');
  await fixture.grant(beta, eve, 'support');
  await fixture.staff.post(`${gus.url}approve_organization/`);
  support = fixture.as('eve');
  owner = fixture.as('anna');
});

async function matches(query: string, client = fixture.staff): Promise<string[]> {
  const { status, body } = await client.get(`/api/users/?${query}`);
  assert.is(status, 200, JSON.stringify(body));
  return body.map((user: Json) => user.username);
}
async function rejection(query: string, client = fixture.staff): Promise<unknown> {
  const { status, body } = await client.get(`/api/users/?${query}`);
  assert.is(status, 400);
  return body;
}
const everyone = ['admin', 'anna', 'bob', 'carol', 'dora', 'eve', 'frank', 'gus', 'helen'];

test('texts match substrings, ignoring case in every script', async () => {
  for (const [query, ...names] of [
    ['username=A', 'admin', 'anna', 'carol', 'dora', 'frank'],
    ['full_name=STONE', 'bob'],
    ['full_name=%C3%85str%C3%B6m', 'anna'],
    ['full_name=%C3%A5STR%C3%96M', 'anna'],
    ['native_name=%D0%B0%D0%9D%D0%9D', 'anna'],
    ['job_title=ENGINEER', 'anna', 'carol'],
    ['email=@BETA', 'bob'],
    ['phone_number=%2B372', 'anna', 'bob'],
    ['civil_number=c-', 'anna', 'bob'],
    ['registration_method=FAULT', ...everyone],
    ['registration_method=saml2'],
    ['description=FIRST', 'anna'],
    ['full_name=anna&job_title=eng', 'anna'],
    ['full_name=anna&job_title=cook'],
  ] as const) {
    assert.equal(await matches(query), names, query);
  }
});

test('%, _ and backslash in a filter are literal; no text contains a NUL', async () => {
  assert.equal(await matches('full_name=100%25'), ['carol']);
  assert.equal(await matches('full_name=%25'), ['carol']);
  for (const text of ['_', '%5C', '%00', 'a%00', 'An%00na', '%00%C3%85'])
    assert.equal(await matches(`full_name=${text}`), []);
});

test('ignores empty values and unknown parameters, and uses the last of repeated values', async () => {
  assert.equal(await matches('username=&is_active=&customer_uuid=&o='), everyone);
  assert.equal(await matches('username=bob&username=anna'), ['anna']);
  assert.equal(await matches('nothing=5&is_staff=maybe'), everyone);
});

test('staff and global support find users by civil number; others find only themselves', async () => {
  assert.equal(await matches('civil_number=C-', support), ['anna', 'bob']);
  assert.equal(await matches('civil_number=C-', owner), ['anna']);
  assert.equal(await matches('civil_number=C-200', owner), []);
});

test("staff and global support filter and order by description; other callers' filter is ignored", async () => {
  assert.equal(await matches('description=First', support), ['anna']);
  assert.equal(await matches('description=First', owner), ['anna', 'bob', 'carol', 'eve', 'gus', 'helen']);
  assert.equal((await matches('o=-description')).slice(0, 2), ['bob', 'anna']);
  assert.equal((await matches('o=-description', support)).slice(0, 2), ['bob', 'anna']);
  assert.equal(await rejection('o=description', owner), { o: ['"description" is not a valid choice.'] });
});

test('organization matches exactly, is_active and organization_approved as booleans', async () => {
  assert.equal(await matches('organization=Alpha'), ['anna', 'gus']);
  assert.equal(await matches('organization=Alph'), []);
  assert.equal(await matches('is_active=False'), ['dora']);
  assert.equal(await matches('is_active=0', owner), []);
  assert.equal(await matches('organization_approved=yes'), ['gus']);
  assert.equal(await rejection('is_active=maybe'), { is_active: ['"maybe" is not a valid boolean.'] });
});

test('customer_uuid selects users with a role in the customer or its projects, project_uuid those of the project', async () => {
  assert.equal(await matches(`customer_uuid=${alpha.uuid}`), ['anna', 'carol', 'dora', 'frank']);
  assert.equal(await matches(`customer_uuid=${alpha.uuid}`, owner), ['anna', 'carol']);
  assert.equal(await matches(`project_uuid=${alphaProject.uuid}`), ['carol', 'dora']);
  assert.equal(await matches(`customer_uuid=${beta.uuid}`), ['bob', 'eve']);
  assert.equal(await matches(`customer_uuid=${beta.uuid}`, owner), []);
  assert.equal(await matches(`project_uuid=${betaProject.uuid}`, owner), []);
  assert.equal(await matches(`customer_uuid=${'0'.repeat(32)}`), []);
  const dashed = alpha.uuid.toUpperCase().replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  assert.equal(await matches(`customer_uuid=${dashed}`), ['anna', 'carol', 'dora', 'frank']);
  for (const name of ['customer_uuid', 'project_uuid'])
    assert.equal(await rejection(`${name}=x`), { [name]: ['"x" is not a valid UUID.'] });
});

test('current selects only the caller, unless it is explicitly false', async () => {
  for (const flag of ['current', 'current=', 'current=true', 'current=maybe'])
    assert.equal(await matches(flag, owner), ['anna']);
  assert.equal(await matches('current=False&username=b', owner), ['bob']);
  assert.equal(await matches('current&username=bob', owner), []);
});

test('organization_claimed selects users with an organization', async () => {
  assert.equal(await matches('organization_claimed'), ['anna', 'bob', 'carol', 'gus', 'helen']);
});

test("potential selects users of the caller's customers, including the caller, without staff", async () => {
  assert.equal(await matches('potential'), ['anna', 'bob', 'carol', 'dora', 'eve']);
  assert.equal(await matches('potential', support), ['anna', 'bob', 'carol', 'dora', 'eve']);
  assert.equal(await matches('potential', owner), ['anna', 'carol']);
  assert.equal(await matches('potential', fixture.as('carol')), ['anna', 'carol']);
  assert.equal(await matches('potential', fixture.as('gus')), []);
  assert.equal(await matches('potential=false&username=gus'), ['gus']);
});

test("potential_customer restricts the customers to one of the caller's", async () => {
  assert.equal(await matches(`potential&potential_customer=${beta.uuid}`), ['bob', 'eve']);
  assert.equal(await matches(`potential&potential_customer=${beta.uuid}`, owner), []);
  assert.equal(await matches(`potential&potential_customer=${alpha.uuid}`, owner), ['anna', 'carol']);
  assert.equal(await rejection('potential&potential_customer=x'), { potential_customer: ['"x" is not a valid UUID.'] });
});

test('potential_organization selects users of exactly these organizations and adds approved ones without any role', async () => {
  assert.equal(await matches('potential&potential_organization=Alpha'), ['anna', 'gus']);
  assert.equal(await matches('potential&potential_organization=Alpha,Beta'), ['anna', 'bob', 'gus']);
  assert.equal(await matches('potential&potential_organization=Alpha,Beta', owner), ['anna', 'gus']);
  assert.equal(await matches('potential&potential_organization=Gamma'), []);
});

test('ignores the two other parameters without potential', async () => {
  assert.equal(await matches(`potential_customer=x&potential_organization=Alpha`), everyone);
});

test('an ended role connects no users', async () => {
  const [late, customer] = [await fixture.user('late'), await fixture.customer('Late')];
  const soon = new Date(fixture.clock.now() / 1000 + 60_000).toISOString();
  await fixture.grant(customer, late, 'owner', soon);
  assert.equal(await matches(`customer_uuid=${customer.uuid}`), ['late']);
  assert.equal(await matches('potential', fixture.as('late')), ['late']);
  fixture.clock.advance(60);
  assert.equal(await matches(`customer_uuid=${customer.uuid}`), []);
  assert.equal(await matches('potential', fixture.as('late')), []);
  await fixture.staff.delete(late.url);
});

test('the default order is by username; every ordering works in both directions', async () => {
  assert.equal(await matches(''), everyone);
  assert.equal(await matches('o=-username'), [...everyone].reverse());
  const orderings = [
    'full_name',
    'native_name',
    'organization',
    'organization_approved',
    'email',
    'phone_number',
    'job_title',
    'username',
    'is_active',
    'registration_method',
    'date_joined',
    'description',
  ];
  for (const name of orderings) {
    const ascending = await matches(`o=${name}`);
    assert.equal([...ascending].sort(), everyone, name);
    assert.equal(await matches(`o=-${name}`), [...ascending].reverse(), name);
  }
});

test('orderings ignore case, combine several names, and end with the order of creation', async () => {
  assert.equal((await matches('o=-full_name')).slice(0, 4), ['dora', 'carol', 'bob', 'anna']);
  assert.equal((await matches('o=-organization,-username')).slice(0, 5), ['helen', 'bob', 'gus', 'carol', 'anna']);
  assert.equal(await matches('o=is_active'), ['dora', 'admin', 'anna', 'bob', 'carol', 'eve', 'frank', 'gus', 'helen']);
  assert.equal((await matches('o=-date_joined')).slice(0, 2), ['helen', 'gus']);
});

test('names an unknown ordering in the error', async () => {
  for (const name of ['nonsense', 'civil_number', 'token_lifetime', 'constructor', 'id', 'u.id']) {
    assert.equal(await rejection(`o=username,-${name}`), { o: [`"${name}" is not a valid choice.`] });
  }
});

test.run();
