/**
 * The service sends secrets of provider accounts only to their provider, and shared accounts reveal nothing to strangers
 * (services.md 2.4, 2.5).
 */
import * as assert from 'uvu/assert';
import { certificate } from '../support/certificate.ts';
import type { ApiResponse, Json } from '../support/fixture.ts';
import { asEachPersona, createPersonas, type Personas, sameExcept } from '../support/personas.ts';
import { simulatedService, work } from '../support/simulated.ts';
import { suiteWithServerPerTest } from '../support/suite.ts';

const { test: others, fixture } = suiteWithServerPerTest('settings of others');
let people: Personas;

others.before.each(async () => {
  people = await createPersonas(fixture);
});

const again = ['Credentials must be given again when the backend changes.'];
const forbidden = { detail: 'You do not have permission to perform this action.' };

/** Creates an account of the owner at an address, with a token. */
async function account(backendUrl: string, fields = {}): Promise<Json> {
  const { body, status } = await people.clients.owner.post('/api/service-settings/', {
    name: 'Droplets',
    type: 'DigitalOcean',
    customer: people.customer.url,
    backend_url: backendUrl,
    token: 'secret of the account',
    ...fields,
  });
  assert.is(status, 201, JSON.stringify(body));
  return body;
}

/** A certificate that a user uploads. */
function withCertificate(
  url: string,
  by: 'owner' | 'staff',
  fields: Record<string, string> = {},
): Promise<ApiResponse<Json>> {
  const form = new FormData();
  form.set('certificate', new Blob([certificate.cert], { type: 'application/x-pem-file' }), 'anchor.pem');
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return people.clients[by].send('PATCH', url, form);
}

others('requires stored secrets again before it sends them to another scheme, host or port', async () => {
  for (const client of [people.clients.owner, fixture.staff]) {
    const { url } = await account('https://vendor.example.com/v2');
    for (const moved of [
      'http://vendor.example.com/other',
      'https://vendor.example.com:8443/v2',
      'https://evil.example.com/v2',
    ]) {
      const { body, status } = await client.patch(url, { backend_url: moved });
      assert.equal([status, body], [400, { token: again }], moved);
      assert.equal((await client.patch(url, { backend_url: moved, token: '********' })).body, { token: again });
    }
    for (const same of ['https://vendor.example.com:443/v3', 'https://VENDOR.example.com/'])
      assert.is((await client.patch(url, { backend_url: same })).status, 200, same);
    const change = await client.patch(url, { backend_url: 'http://vendor.example.com/', token: 'known to the caller' });
    assert.is(change.status, 200);
  }
});

others('requires stored secrets again after a change of the certificate, except from staff', async () => {
  const { url } = await account('https://vendor.example.com/v2');
  const { body, status } = await withCertificate(url, 'owner');
  assert.equal([status, body], [400, { token: again }]);
  assert.is((await withCertificate(url, 'owner', { token: 'known to the caller' })).status, 200);
  assert.is((await withCertificate(url, 'staff')).status, 200, 'staff may');
  const cleared = await people.clients.owner.patch(url, { certificate: null });
  assert.equal([cleared.status, cleared.body], [400, { token: again }]);
  assert.is((await people.clients.owner.patch(url, { name: 'Renamed' })).status, 200, 'other changes need no secret');
});

others('rejects credentials in an address and names the fields for them', async () => {
  const rejection = { backend_url: ['Enter the credentials in their own fields.'] };
  for (const backend_url of ['https://user:password@vendor.example.com/', 'https://token@vendor.example.com/v2']) {
    const created = await people.clients.owner.post('/api/service-settings/', {
      name: 'Droplets',
      type: 'DigitalOcean',
      customer: people.customer.url,
      backend_url,
      token: 'x',
    });
    assert.equal([created.status, created.body], [400, rejection], backend_url);
    const service = await people.clients.owner.post('/api/digitalocean/', {
      name: 'Droplets',
      customer: people.customer.url,
      backend_url,
      token: 'x',
    });
    assert.equal([service.status, service.body], [400, rejection], backend_url);
  }
  const { url } = await account('https://vendor.example.com/v2');
  const changed = await people.clients.owner.patch(url, { backend_url: 'https://a:b@vendor.example.com/', token: 'x' });
  assert.equal(changed.body, rejection);
});

/** Shared OpenStack settings with a tenant in the personas' project. */
async function shared(): Promise<Json> {
  const { body } = await fixture.staff.post('/api/service-settings/', {
    name: 'Public',
    type: 'OpenStack',
    shared: true,
    simulator_latency: '0',
    external_network_id: 'public-net',
  });
  await work(fixture);
  const [link] = (await fixture.staff.get(`/api/openstack-service-project-link/?project_uuid=${people.project.uuid}`))
    .body;
  const tenant = await fixture.staff.post('/api/openstack-tenants/', { service_project_link: link.url, name: 'Lab' });
  assert.is(tenant.status, 201, JSON.stringify(tenant.body));
  await work(fixture);
  return body;
}

others('shows customers their own use of shared settings, and none to strangers and members of projects', async () => {
  const { url } = await shared();
  const other = await fixture.customer('Bob');
  await fixture.grant(other, await fixture.user('bob'), 'support');
  const responses = await asEachPersona(people, async (client) => {
    const { body, status } = await client.get(`${url}stats/`);
    return [status, status === 200 ? Object.values(body) : body];
  });
  const own = [200, [-1, 20, 0, -1, 51_200, 0, -1, 1_024_000, 0]];
  const all = [200, responses.staff[1]];
  assert.equal(responses, {
    staff: all,
    support: all,
    owner: own,
    helper: own,
    manager: [403, forbidden],
    admin: [403, forbidden],
    observer: [403, forbidden],
    stranger: [403, forbidden],
  });
  assert.ok((responses.staff[1] as number[])[0] !== -1, 'staff see the quotas of the provider');
  const bobs = await fixture.as('bob').get(`${url}stats/`);
  assert.equal([bobs.status, Object.values(bobs.body)], [200, [-1, -1, 0, -1, -1, 0, -1, -1, 0]]);
});

others(
  'shows quotas of shared settings to staff and support only: in lists, details, history and settings',
  async () => {
    const settings = await shared();
    const { quotas } = (await fixture.staff.get(settings.url)).body;
    const [quota] = quotas;
    assert.equal(
      quotas.map(({ name, limit }: Json) => [name, limit]),
      [
        ['openstack_ram', 1_048_576],
        ['openstack_storage', 10_485_760],
        ['openstack_vcpu', 400],
      ],
    );
    const responses = await asEachPersona(people, async (client) => {
      const values = [
        (await client.get(settings.url)).body.quotas,
        (await client.get('/api/service-settings/?name=Public')).body[0].quotas,
      ];
      const listed = (await client.get('/api/quotas/?name=openstack')).body.map(({ name }: Json) => name);
      const alone = [
        await client.get(quota.url),
        await client.get(`${quota.url}history/?point=1515127624`),
        await client.patch(quota.url, { threshold: 1 }),
      ].map(({ status }) => status);
      return [values, listed, alone];
    });
    const names = quotas.map(({ name }: Json) => name);
    const all = (write: number) => [[quotas, quotas], names, [200, 200, write]];
    const none = [[[], []], [], [404, 404, 404]];
    assert.equal(responses, {
      staff: all(409),
      support: all(403),
      owner: none,
      helper: none,
      manager: none,
      admin: none,
      observer: none,
      stranger: none,
    });
    const own = await people.clients.owner.post('/api/service-settings/', {
      name: 'Own',
      type: 'OpenStack',
      customer: people.customer.url,
    });
    assert.is(own.body.quotas.length, 3, 'quotas of private settings are visible with the settings');
    const { length } = (await people.clients.helper.get('/api/quotas/?name=openstack')).body;
    assert.is(length, 3);
  },
);

others('shows alerts about shared settings and their quotas to staff and support only', async () => {
  const settings = await shared();
  const quota = settings.quotas[0] ?? (await fixture.staff.get(settings.url)).body.quotas[0];
  const urls = [];
  for (const scope of [settings.url, quota.url]) {
    const { body, status } = await fixture.staff.post('/api/alerts/', {
      scope,
      alert_type: 'full',
      severity: 'Error',
      message: 'Nothing is left',
    });
    if (scope === settings.url) assert.is(status, 201, JSON.stringify(body));
    if (status === 201) urls.push(body.url);
  }
  for (const url of urls) {
    const statuses = await asEachPersona(people, async (client) => (await client.get(url)).status);
    assert.equal(statuses, sameExcept(404, { staff: 200, support: 200 }));
    const { body, status } = await people.clients.stranger.post(`${url}acknowledge/`);
    assert.equal([status, body], [404, { detail: 'Not found.' }]);
  }
  assert.equal((await people.clients.owner.get('/api/alerts/')).body, []);
});

others(
  'returns no settings for an unknown or invisible scope in the filter, and rejects a link to no object',
  async () => {
    const own = await simulatedService(fixture, 'openstack', people, { external_network_id: 'public-net' });
    const { body: tenant } = await fixture.staff.post('/api/openstack-tenants/', {
      service_project_link: own.link.url,
      name: 'Lab',
    });
    await work(fixture);
    const { body: hosted } = await fixture.staff.post('/api/service-settings/', {
      name: 'Hosted',
      type: 'JIRA',
      scope: tenant.url,
      shared: true,
    });
    const list = async (scope: string, client = fixture.staff): Promise<unknown[]> => {
      const { body, status } = await client.get(`/api/service-settings/?scope=${encodeURIComponent(scope)}`);
      return [status, Array.isArray(body) ? body.map(({ name }: Json) => name) : body];
    };
    assert.is(hosted.scope, tenant.url, JSON.stringify(hosted));
    assert.equal(await list(tenant.url), [200, ['Hosted']]);
    assert.equal(await list(tenant.url, people.clients.stranger), [200, []], 'invisible');
    const unknown = tenant.url.replace(tenant.uuid, '0'.repeat(32));
    assert.equal(await list(unknown), [200, []]);
    assert.equal(await list(`${fixture.url}/api/nothing/${'0'.repeat(32)}/`), [
      400,
      { scope: [`Can't restore object from url: ${fixture.url}/api/nothing/${'0'.repeat(32)}/`] },
    ]);
  },
);

others.run();
