/** Requests that change an object, for operations that the table of rights requests without a change. */
import { recoveryUrl } from '../../../src/app/people/people.ts';
import { Client } from '../../support/fixture.ts';
import { enrol } from '../../support/second-factors.ts';
import { newKeyOf } from '../rights/provided.ts';
import { imageForm, type Situation } from '../rights/situation.ts';

type Body = (place: Situation, url: string) => unknown;

const name: Body = () => ({ name: 'Changed' });

export const changedBodies: Readonly<Record<string, Body>> = {
  'POST /api/alerts/:key/': () => ({ message: 'Changed.', severity: 'Info' }),
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

/** Operations that need a different caller or object than in the table of rights. Each returns its status. */
export const performedAlone: Readonly<Record<string, (place: Situation) => Promise<number>>> = {
  'POST /api-auth/logout/': async ({ fixture }) => (await fixture.as('guest').post('/api-auth/logout/')).status,
  'POST /api-auth/recover/': async ({ fixture }) => {
    const secret = recoveryUrl(fixture.server.app, 'guest').split('/').at(-1);
    return (await fixture.anonymous.post('/api-auth/recover/', { secret })).status;
  },
  'POST /api-auth/second-factor/': async ({ fixture }) => {
    const password = 'correct-horse-7';
    const { url } = await fixture.user('factored');
    await fixture.staff.post(`${url}password/`, { password });
    const { factor } = await enrol(fixture, fixture.as('factored'));
    const { body } = await fixture.anonymous.post('/api-auth/password/', { username: 'factored', password });
    const { token } = body.second_factor;
    const [code] = factor.recovery_codes;
    return (await fixture.anonymous.post('/api-auth/second-factor/', { token, recovery_code: code })).status;
  },
  'DELETE /api/api-keys/current/': async ({ fixture }) => {
    const { body } = await fixture.as('guest').post('/api/api-keys/', { name: 'CI', scopes: ['users:read'] });
    return (await new Client(fixture, body.key).delete('/api/api-keys/current/')).status;
  },
  'DELETE /api/customers/:key/': async ({ fixture }) =>
    (await fixture.staff.delete((await fixture.customer('Empty')).url)).status,
  'DELETE /api/resource-sla/': async (place) => {
    const { fixture } = place;
    const scope = dropletOf(place);
    await fixture.staff.put('/api/resource-sla/', { scope, period: '2018-01', agreed_value: 95, value: 96 });
    return (await fixture.staff.delete(`/api/resource-sla/?scope=${scope}&period=2018-01`)).status;
  },
  'DELETE /api/monitoring-items/': async (place) => {
    const { fixture } = place;
    const scope = dropletOf(place);
    await fixture.staff.put('/api/monitoring-items/', { scope, name: 'load', value: 1 });
    return (await fixture.staff.delete(`/api/monitoring-items/?scope=${scope}&name=load`)).status;
  },
};

const dropletOf = (place: Situation): string =>
  `/api/digitalocean-droplets/${newKeyOf(place, '/api/digitalocean-droplets/:key/', 'own')}/`;

/** Operations that need more than a body; the tests of these files perform them, those of app/docs/examples with their record. */
export const performedElsewhere: Readonly<Record<string, string>> = {
  'POST /api-auth/password/forgot/': 'app/docs/examples: needs more than its body',
  'POST /api-auth/password/reset/': 'app/docs/examples: needs more than its body',
  'POST /api-auth/password/initial/': 'app/docs/examples: needs more than its body',
  'POST /api-auth/passkey/': 'accounts/session/factors/passkeys: needs a passkey',
  'POST /api/second-factors/passkeys/': 'accounts/session/factors/passkeys: needs an authenticator',
  'POST /api-auth/saml2/login/complete/': 'accounts/session/saml: needs an identity provider',
  'POST /api-auth/saml2/logout/complete/': 'accounts/session/saml: needs an identity provider',
  'POST /api-auth/oidc/:key/backchannel-logout/': 'attacks/openid-logout: needs an identity provider',
  'POST /api/hooks-web/:key/recover/': 'app/docs/examples: needs more than its body',
  'POST /api/hooks-web/:key/deliveries/:delivery/redeliver/': 'app/docs/examples: needs more than its body',
  'POST /api/backups/': 'app/operation/backups: needs a folder',
  'DELETE /api/backups/:key/': 'app/operation/backups: needs a folder',
  'POST /api/service-settings/:key/pull/': 'app/docs/examples: needs more than its body',
  'POST /api/simulator/drift/': 'app/docs/examples: needs more than its body',
  'PUT /api/resource-sla/': 'app/docs/examples: needs more than its body',
  'PUT /api/monitoring-items/': 'app/docs/examples: needs more than its body',
};
