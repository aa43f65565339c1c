/** Valid bodies for the table of rights, so that responses depend only on the right. */
import { Secret, TOTP } from 'otpauth';
import { sql } from '../../../src/kernel/db/sql.ts';
import { hooks, imageForm, newPublicKey, type Situation } from './situation.ts';

/** Creates the body of a request for an object at a URL, and its prerequisites. */
type Body = (place: Situation, object: string, url: string) => unknown;

let created = 0;
const unique = (word: string): string => {
  created += 1;
  return `${word}${created}`;
};

const alert: Body = ({ customers }, object) => ({
  scope: customers[object].url,
  alert_type: unique('type'),
  message: 'Loud.',
  severity: 'Info',
});
const permission =
  (structure: 'customer' | 'project', role: string): Body =>
  async (place, object) => {
    const user = await place.fixture.user(unique('user'));
    return { role, user: user.url, [structure]: place[`${structure}s`][object].url };
  };
/** A pending claim for the customer of the callers. */
const claimed: Body = async ({ fixture }, _, url) => {
  const account = url.replace(/[^/]*\/$/, '');
  await fixture.staff.patch(account, { organization: '', agree_with_policy: true });
  await fixture.staff.patch(account, { organization: 'ALC' });
};
/** No body, but a preceding action on the same object. */
const after =
  (action: string, body?: unknown): Body =>
  async ({ fixture }, _, url) => {
    await fixture.staff.post(url.replace(/[^/]*\/$/, action), body);
  };
const invitation: Body = ({ customers, projects }, object) => ({
  link_template: 'https://app.example.com/{uuid}',
  email: 'guest@example.com',
  ...(object === 'customer'
    ? { customer: customers.own.url, customer_role: 'owner' }
    : { project: projects[object].url, project_role: 'admin' }),
});
const serviceAccount: Body = ({ customers, projects }, object) => ({
  name: 'Deployment',
  ...(object === 'customer'
    ? { customer: customers.own.url, role: 'support' }
    : { project: projects[object].url, role: 'admin' }),
});
/** Invitations stay pending after any earlier action. */
const pending: Body = ({ fixture: { server } }) => {
  const { db } = server.app;
  db.write(() => db.run(sql`UPDATE invitation SET state = 'pending'`));
};
const byStaffWithFactor: Body = ({ fixture: { server } }) => {
  const { db } = server.app;
  db.write(() =>
    db.run(sql`INSERT INTO second_factor (uuid, user_id, kind, name, created)
      SELECT ${unique('factor')}, id, 'totp', 'Phone', 0 FROM user WHERE username = 'admin'`),
  );
  return { reason: 'Lost phone' };
};

const account: Body = () => ({ agree_with_policy: true });

/** Valid bodies with their prerequisites. PUT and PATCH send the current values. */
export const bodies: Readonly<Record<string, Body>> = {
  'POST /api-auth/password/': async ({ fixture, keys }) => {
    await fixture.staff.post(`/api/users/${keys.users?.other}/password/`, { password: 'secret12' });
    return { username: 'guest', password: 'secret12' };
  },
  'POST /api/sessions/confirm/': async ({ fixture: { server } }) => {
    const { db, passwords } = server.app;
    const hash = await passwords.hash('secret12');
    // A user with a second factor cannot confirm with the password alone.
    db.write(() => {
      db.run(sql`UPDATE user SET password_hash = ${hash}`);
      db.run(sql`DELETE FROM second_factor`);
    });
    return { password: 'secret12' };
  },
  'POST /api/api-keys/': () => ({ name: unique('Key '), scopes: ['customers:read'] }),
  'PUT /api/api-keys/:key/': () => ({ name: unique('Key ') }),
  'PATCH /api/api-keys/:key/': () => ({ name: unique('Key ') }),
  'PUT /api/second-factors/:key/': () => ({ name: 'Phone' }),
  'PATCH /api/second-factors/:key/': () => ({ name: 'Phone' }),
  'POST /api/second-factors/totp/confirm/': ({ fixture: { server } }) => {
    const { clock, db, secrets } = server.app;
    const secret = 'JBSWY3DPEHPK3PXP';
    db.write(() => {
      db.run(sql`DELETE FROM totp_enrolment`);
      for (const id of db.values<number>(sql`SELECT id FROM user`)) {
        const uuid = unique('enrolment');
        db.insert('totp_enrolment', {
          uuid,
          user_id: id,
          secret: secrets.seal(secret, uuid),
          expires: Number.MAX_SAFE_INTEGER,
        });
      }
    });
    return { code: TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: clock.now() / 1000 }) };
  },
  'POST /api/users/': () => ({ username: unique('user') }),
  'PUT /api/users/:key/': account,
  'PATCH /api/users/:key/': account,
  'POST /api/users/:key/password/': () => ({ password: 'secret12' }),
  'POST /api/users/:key/reset_second_factors/': byStaffWithFactor,
  'POST /api/users/:key/impersonate/': byStaffWithFactor,
  'POST /api/users/:key/claim_organization/': async (...situation) => {
    await claimed(...situation);
    return { organization: 'BOB' };
  },
  'POST /api/users/:key/approve_organization/': claimed,
  'POST /api/users/:key/reject_organization/': claimed,
  'POST /api/users/:key/remove_organization/': claimed,
  'POST /api/keys/': () => ({ public_key: newPublicKey() }),
  'POST /api/customers/': () => ({ name: 'Carol' }),
  'PUT /api/customers/:key/': ({ customers }, object) => ({ name: customers[object].name }),
  'PATCH /api/customers/:key/': ({ customers }, object) => ({ name: customers[object].name }),
  'PUT /api/customers/:key/image/': imageForm,
  'PATCH /api/customers/:key/image/': imageForm,
  'DELETE /api/customers/:key/image/': async ({ fixture }, _, url) => void (await fixture.staff.put(url, imageForm())),
  'POST /api/projects/': ({ customers }, object) => ({ name: 'Rowing', customer: customers[object].url }),
  'PUT /api/projects/:key/': ({ projects, customers }, object) => ({
    name: projects[object].name,
    customer: customers[object].url,
  }),
  'PATCH /api/projects/:key/': ({ projects }, object) => ({ name: projects[object].name }),
  'POST /api/projects/:key/update_certifications/': () => ({ certifications: [] }),
  'POST /api/customer-permissions/': permission('customer', 'support'),
  'POST /api/project-permissions/': permission('project', 'support'),
  'PATCH /api/customer-permissions/:key/': () => ({ expiration_time: null }),
  'PATCH /api/project-permissions/:key/': () => ({ expiration_time: null }),
  'PUT /api/quotas/:key/': () => ({ limit: -1 }),
  'PATCH /api/quotas/:key/': () => ({ limit: -1 }),
  'POST /api/alerts/': alert,
  'POST /api/stats/alerts/': alert,
  'POST /api/alerts/:key/': () => ({ message: 'Loud.', severity: 'Info' }),
  'POST /api/alerts/:key/acknowledge/': after('cancel_acknowledgment/'),
  'POST /api/alerts/:key/cancel_acknowledgment/': after('acknowledge/'),
  'POST /api/alerts/:key/close/': after('', { message: 'Loud.', severity: 'Info' }),
  'POST /api/simulator/fail_next/': () => ({ kind: 'DigitalOcean', operation: 'ping' }),
  'POST /api/simulator/drift/': () => ({ resource: `/api/digitalocean-droplets/${'0'.repeat(32)}/`, change: 'vanish' }),
  'POST /api/simulator/advance/': () => ({ seconds: 1 }),
  'POST /api/events/': ({ customers }, object) => ({ level: 'info', message: 'Hello.', scope: customers[object].url }),
  'POST /api/events/count/history/': () => ({ point: 1 }),
  'POST /api/hooks-web/': () => hooks.web,
  'PUT /api/hooks-web/:key/': () => hooks.web,
  'POST /api/hooks-web/:key/recover/': () => ({ since: '2018-01-01T00:00:00Z' }),
  'POST /api/hooks-push/': () => hooks.push,
  'PUT /api/hooks-push/:key/': () => hooks.push,
  'POST /api/hooks-email/': () => hooks.email,
  'PUT /api/hooks-email/:key/': () => hooks.email,
  'POST /api/service-accounts/': serviceAccount,
  'PUT /api/service-accounts/:key/': serviceAccount,
  'POST /api/user-invitations/': invitation,
  'POST /api/user-invitations/:key/cancel/': pending,
  'POST /api/user-invitations/:key/send/': pending,
  'POST /api/service-settings/': ({ customers }, object) => ({
    name: 'Cloud',
    type: 'DigitalOcean',
    customer: customers[object].url,
  }),
  'PUT /api/service-settings/:key/': () => ({ name: 'Cloud' }),
  'POST /api/service-settings/:key/update_certifications/': () => ({ certifications: [] }),
  'POST /api/jira-webhook-receiver/': () => ({ webhookEvent: 'jira:issue_deleted' }),
  'POST /api/service-certifications/': () => ({ name: unique('ISO ') }),
  'PUT /api/service-certifications/:key/': () => ({ name: 'ISO 27001' }),
};

/** Parameters without which a path returns 400. */
export const queries: Readonly<Record<string, string>> = {
  '/api/quotas/:key/history/': '?point=1',
  '/api/monitoring-items/history/': '?point=1',
  '/api/events/count_history/': '?point=1',
  '/api/events/count/history/': '?point=1',
  '/api/stats/creation-time/': '?type=customer',
};
