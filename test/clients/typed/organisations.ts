/** Customers, projects, people and what they may do. */
import { answer, connected, keyOf, type Schema } from './client.ts';

const api = connected();

const customer = await answer(api.POST('/api/customers/', { body: { name: 'Alice and Partners', country: 'EE' } }));
const project = await answer(api.POST('/api/projects/', { body: { name: 'Web shop', customer: customer.url } }));
const user = await answer(
  api.POST('/api/users/', { body: { username: 'bob', full_name: 'Bob Tamm', token_lifetime: null } }),
);
await answer(
  api.POST('/api/customer-permissions/', { body: { customer: customer.url, user: user.url, role: 'owner' } }),
);
const permission = await answer(
  api.POST('/api/project-permissions/', { body: { project: project.url, user: user.url, role: 'manager' } }),
);
await answer(
  api.PATCH('/api/project-permissions/{key}/', {
    params: { path: { key: permission.pk } },
    body: { expiration_time: null },
  }),
);
await answer(
  api.POST('/api/user-invitations/', {
    body: {
      link_template: 'https://app.example.com/{uuid}',
      email: 'carol@example.com',
      project: project.url,
      project_role: 'admin',
    },
  }),
);
const renamed = await answer(
  api.PATCH('/api/customers/{key}/', { params: keyOf(customer), body: { abbreviation: 'AAP' } }),
);

const owners: readonly string[] = (
  await answer(api.GET('/api/customers/{key}/', { params: keyOf(customer) }))
).owners.map(({ url }) => url);
const found: readonly Schema<'Customer'>[] = await answer(
  api.GET('/api/customers/', { params: { query: { name: 'alice', o: ['-name'], page_size: 5 } } }),
);
const members = await answer(api.GET('/api/customers/{key}/users/', { params: keyOf(customer) }));
const counters = await answer(api.GET('/api/customers/{key}/counters/', { params: keyOf(customer) }));
const lists = await Promise.all([
  answer(api.GET('/api/projects/', { params: { query: { customer: customer.uuid } } })),
  answer(api.GET('/api/users/', { params: { query: { current: '' } } })),
  answer(api.GET('/api/keys/')),
  answer(api.GET('/api/sessions/', { params: { query: { page_size: 1 } } })),
  answer(api.GET('/api/customer-permissions/')),
  answer(api.GET('/api/customer-permissions-log/')),
  answer(api.GET('/api/project-permissions/')),
  answer(api.GET('/api/project-permissions-log/')),
  answer(api.GET('/api/user-invitations/')),
  answer(api.GET('/api/user-counters/')),
]);
const { version } = await answer(api.GET('/api/version/'));
const { WALDUR_CORE: flags } = await answer(api.GET('/api/configuration/'));

// What the document does not know, the compiler does not let through.
// @ts-expect-error there is no such path
void (() => api.GET('/api/costumers/'));
// @ts-expect-error a name is required
void (() => api.POST('/api/customers/', { body: { country: 'EE' } }));
// @ts-expect-error no such role
void (() => api.POST('/api/project-permissions/', { body: { project: project.url, user: user.url, role: 'king' } }));
// @ts-expect-error no such member
void customer.nickname;

console.log(
  JSON.stringify({
    abbreviation: renamed.abbreviation,
    country: renamed.country_name,
    found: found.map(({ name }) => name),
    owners: owners.length,
    members: members.map(({ username }) => username),
    projects: counters.projects,
    lists: lists.map((list) => (Array.isArray(list) ? list.length : Object.keys(list).length > 0)),
    version,
    invitations: flags.INVITATIONS_ENABLED,
  }),
);
