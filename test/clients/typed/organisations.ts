/** Customers, projects, people and their roles. */
import { connected, dataOf, keyOf, type Schema } from './client.ts';

const api = connected();

const customer = await dataOf(api.POST('/api/customers/', { body: { name: 'Alice and Partners', country: 'EE' } }));
const project = await dataOf(api.POST('/api/projects/', { body: { name: 'Web shop', customer: customer.url } }));
const user = await dataOf(
  api.POST('/api/users/', { body: { username: 'bob', full_name: 'Bob Tamm', token_lifetime: null } }),
);
await dataOf(
  api.POST('/api/customer-permissions/', { body: { customer: customer.url, user: user.url, role: 'owner' } }),
);
const permission = await dataOf(
  api.POST('/api/project-permissions/', { body: { project: project.url, user: user.url, role: 'manager' } }),
);
await dataOf(
  api.PATCH('/api/project-permissions/{key}/', {
    params: { path: { key: permission.pk } },
    body: { expiration_time: null },
  }),
);
await dataOf(
  api.POST('/api/user-invitations/', {
    body: {
      link_template: 'https://app.example.com/{uuid}',
      email: 'carol@example.com',
      project: project.url,
      project_role: 'admin',
    },
  }),
);
const renamed = await dataOf(
  api.PATCH('/api/customers/{key}/', { params: keyOf(customer), body: { abbreviation: 'AAP' } }),
);

const owners: readonly string[] = (
  await dataOf(api.GET('/api/customers/{key}/', { params: keyOf(customer) }))
).owners.map(({ url }) => url);
const matches: readonly Schema<'Customer'>[] = await dataOf(
  api.GET('/api/customers/', { params: { query: { name: 'alice', o: ['-name'], page_size: 5 } } }),
);
const members = await dataOf(api.GET('/api/customers/{key}/users/', { params: keyOf(customer) }));
const counters = await dataOf(api.GET('/api/customers/{key}/counters/', { params: keyOf(customer) }));
const lists = await Promise.all([
  dataOf(api.GET('/api/projects/', { params: { query: { customer: customer.uuid } } })),
  dataOf(api.GET('/api/users/', { params: { query: { current: '' } } })),
  dataOf(api.GET('/api/keys/')),
  dataOf(api.GET('/api/sessions/', { params: { query: { page_size: 1 } } })),
  dataOf(api.GET('/api/second-factors/', { params: { query: { page_size: 1 } } })),
  dataOf(api.GET('/api/api-keys/', { params: { query: { page_size: 1 } } })),
  dataOf(api.GET('/api/service-accounts/', { params: { query: { page_size: 1 } } })),
  dataOf(api.GET('/api/customer-permissions/')),
  dataOf(api.GET('/api/customer-permissions-log/')),
  dataOf(api.GET('/api/project-permissions/')),
  dataOf(api.GET('/api/project-permissions-log/')),
  dataOf(api.GET('/api/user-invitations/')),
  dataOf(api.GET('/api/user-counters/')),
]);
const { version } = await dataOf(api.GET('/api/version/'));
const { WALDUR_CORE: flags } = await dataOf(api.GET('/api/configuration/'));

// The compiler rejects names that are missing in the document.
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
    matches: matches.map(({ name }) => name),
    owners: owners.length,
    members: members.map(({ username }) => username),
    projects: counters.projects,
    lists: lists.map((list) => (Array.isArray(list) ? list.length : Object.keys(list).length > 0)),
    version,
    invitations: flags.INVITATIONS_ENABLED,
  }),
);
