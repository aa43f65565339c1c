/** Requests that change an object, for operations that the table of rights requests without a change. */
import { imageForm, type Situation } from '../rights/situation.ts';

type Body = (place: Situation, url: string) => unknown;

const name: Body = () => ({ name: 'Changed' });

export const changedBodies: Readonly<Record<string, Body>> = {
  'PUT /api/users/:key/': () => ({ full_name: 'Changed', agree_with_policy: true }),
  'PATCH /api/users/:key/': () => ({ full_name: 'Changed' }),
  'PUT /api/customers/:key/': name,
  'PATCH /api/customers/:key/': name,
  'PUT /api/projects/:key/': ({ customers }) => ({ name: 'Changed', customer: customers.own.url }),
  'PATCH /api/projects/:key/': name,
  'PUT /api/second-factors/:key/': name,
  'PATCH /api/second-factors/:key/': name,
  'PUT /api/service-accounts/:key/': () => ({ name: 'Changed', role: 'admin' }),
  'PATCH /api/service-accounts/:key/': name,
  'PUT /api/service-certifications/:key/': name,
  'PATCH /api/service-certifications/:key/': name,
  'PUT /api/service-settings/:key/': name,
  'PATCH /api/service-settings/:key/': name,
  'PUT /api/customer-permissions/:key/': () => ({ expiration_time: '2030-01-01T00:00:00Z' }),
  'PATCH /api/customer-permissions/:key/': () => ({ expiration_time: '2030-01-01T00:00:00Z' }),
  'PUT /api/project-permissions/:key/': () => ({ expiration_time: '2030-01-01T00:00:00Z' }),
  'PATCH /api/project-permissions/:key/': () => ({ expiration_time: '2030-01-01T00:00:00Z' }),
  'PUT /api/hooks-web/:key/': () => ({ destination_url: 'https://other.test/', event_types: ['role_granted'] }),
  'PATCH /api/hooks-web/:key/': () => ({ event_types: ['role_granted'] }),
  'PUT /api/hooks-push/:key/': () => ({ type: 'iOS', event_types: ['role_granted'] }),
  'PATCH /api/hooks-push/:key/': () => ({ event_types: ['role_granted'] }),
  'PUT /api/hooks-email/:key/': () => ({ email: 'other@example.com', event_types: ['role_granted'] }),
  'PATCH /api/hooks-email/:key/': () => ({ event_types: ['role_granted'] }),
  'PUT /api/quotas/:key/': () => ({ limit: 7 }),
  'PATCH /api/quotas/:key/': () => ({ limit: 7 }),
  'PUT /api/notification-preferences/': () => ({ alert_opened: 'none' }),
  'PATCH /api/notification-preferences/': () => ({ alert_opened: 'none' }),
  'POST /api/projects/:key/update_certifications/': ({ keys }) => ({
    certifications: [{ url: `/api/service-certifications/${keys['service-certifications']?.any}/` }],
  }),
  'POST /api/service-settings/:key/update_certifications/': ({ keys }) => ({
    certifications: [{ url: `/api/service-certifications/${keys['service-certifications']?.any}/` }],
  }),
  'PUT /api/customers/:key/image/': imageForm,
  'PATCH /api/customers/:key/image/': imageForm,
};

/** Operations that need more than a body; the tests of these files perform them. */
export const performedElsewhere: Readonly<Record<string, string>> = {
  'POST /api-auth/logout/': 'app/audit/records: ends the session of the test',
  'POST /api-auth/password/forgot/': 'accounts/session/forgotten-password: needs a mail server',
  'POST /api-auth/password/reset/': 'accounts/session/forgotten-password: needs a mailed secret',
  'POST /api-auth/password/initial/': 'accounts/session/initial-link: needs the first start',
  'POST /api-auth/recover/': 'accounts/session/recovery: needs a secret of the operator',
  'POST /api-auth/second-factor/': 'accounts/session/factors: needs a login with a password',
  'DELETE /api/api-keys/current/': 'accounts/api-keys: needs an API key',
  'POST /api-auth/saml2/login/': 'accounts/session/saml: needs an identity provider',
  'POST /api-auth/saml2/login/complete/': 'accounts/session/saml: needs an identity provider',
  'POST /api-auth/saml2/logout/complete/': 'accounts/session/saml: needs an identity provider',
  'POST /api-auth/oidc/:key/backchannel-logout/': 'attacks/openid-logout: needs an identity provider',
  'DELETE /api/customers/:key/': 'app/audit/records: needs an empty customer',
  'POST /api/hooks-web/:key/recover/': 'activity/hooks/recovery: needs failed deliveries',
  'POST /api/hooks-web/:key/deliveries/:delivery/redeliver/': 'activity/hooks/deliveries: needs a failed delivery',
  'POST /api/backups/': 'app/operation/backups: needs a folder',
  'DELETE /api/backups/:key/': 'app/operation/backups: needs a folder',
  'POST /api/service-settings/:key/pull/': 'cloud/services/settings: needs a synchronised account',
  'POST /api/simulator/drift/': 'app/operation/simulator: needs a resource',
  'PUT /api/resource-sla/': 'cloud/resources/measurements: needs a resource',
  'DELETE /api/resource-sla/': 'cloud/resources/measurements: needs a resource',
  'PUT /api/monitoring-items/': 'cloud/resources/measurements: needs a resource',
  'DELETE /api/monitoring-items/': 'cloud/resources/measurements: needs a resource',
};
