/** The sample data: objects at the providers of its customers. */
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { storeSampleData } from '../../support/sample-data.ts';
import { work } from '../../support/simulated.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: estate, fixture } = suiteWithServer('resources of the sample data');
let resources: Json[];

estate.before(async () => {
  storeSampleData(fixture);
  resources = await everyPage(fixture.staff, '/api/resources/');
});

async function everyPage(client: Client, path: string): Promise<Json[]> {
  const items: Json[] = [];
  for (let next: string | undefined = `${path}?page_size=300`; next !== undefined; ) {
    const { body, headers } = await client.get(next);
    items.push(...body);
    next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  return items;
}

const counted = (values: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};

estate('has accounts of all six types, shared and private, one of them failed', async () => {
  const settings = await everyPage(fixture.staff, '/api/service-settings/');
  assert.equal(counted(settings.map(({ type }) => type)), {
    Amazon: 2,
    DigitalOcean: 3,
    GitLab: 2,
    JIRA: 2,
    OpenStack: 1,
    Oracle: 2,
  });
  assert.equal(
    settings.filter(({ shared }) => shared).map(({ name }) => name),
    ['DigitalOcean', 'Baltic Cloud'],
  );
  const erred = settings
    .filter(({ state }) => state !== 'In Sync')
    .map(({ error_message, name, state }) => [name, state, error_message]);
  assert.equal(erred, [['Field droplets', 'Erred', 'Simulated failure of ping']]);
  const {
    body: [alert],
  } = await fixture.staff.get('/api/alerts/?opened&alert_type=service_unavailable');
  assert.is(alert.context.service_name ?? alert.scope_name, 'Field droplets');
});

estate('simulates usual latencies from now on', () => {
  const options = fixture.server.app.db.values<string>(sql`SELECT options FROM service_settings`);
  assert.ok(options.every((text) => !('simulator_latency' in JSON.parse(text))));
});

estate('has about 300 resources of every kind, in projects of all customers', async () => {
  assert.ok(resources.length > 280 && resources.length < 330, String(resources.length));
  const { body } = await fixture.staff.get('/api/resources/count/');
  for (const [kind, count] of Object.entries<number>(body)) assert.ok(count > 0, kind);
  assert.is(new Set(resources.map(({ customer }) => customer)).size, 12);
  assert.is(new Set(resources.map(({ project }) => project)).size, 39, 'every project but the moved one');
});

estate('has resources in all states', () => {
  const states = counted(resources.map(({ state }) => state));
  assert.equal(Object.keys(states).sort(), [
    'Creating',
    'Creation Scheduled',
    'Deleting',
    'Deletion Scheduled',
    'Erred',
    'OK',
    'Update Scheduled',
    'Updating',
  ]);
  const reasons = new Set(resources.filter(({ state }) => state === 'Erred').map(({ error_message }) => error_message));
  assert.ok(reasons.has('Simulated failure of create'));
  assert.ok(reasons.has('Simulated failure of stop'));
});

estate('has running and stopped machines with addresses, keys and start times', () => {
  const machines = resources.filter(
    ({ resource_type, state }) =>
      ['DigitalOcean.Droplet', 'Amazon.Instance', 'OpenStack.Instance'].includes(resource_type) && state === 'OK',
  );
  const running = machines.filter(({ runtime_state }) => ['online', 'running', 'ACTIVE'].includes(runtime_state));
  const stopped = machines.filter(({ runtime_state }) => ['offline', 'stopped', 'SHUTOFF'].includes(runtime_state));
  assert.is(running.length + stopped.length, machines.length);
  assert.ok(stopped.length > 3 && running.length > stopped.length);
  // The start time of an imported machine is unknown.
  for (const machine of running)
    assert.ok(machine.start_time >= machine.created || machine.name.startsWith('unmanaged'), machine.name);
  assert.ok(machines.filter(({ key_fingerprint }) => key_fingerprint !== '').length > 90);
  assert.ok(machines.every(({ internal_ips }) => internal_ips.length > 0));
});

estate('has resources created throughout its history', () => {
  const years = counted(resources.map(({ created }) => created.slice(0, 4)));
  assert.equal(Object.keys(years), ['2016', '2017', '2018']);
  assert.ok((years['2016'] as number) > 20);
});

estate('has SLA of up to twelve months for some resources, and lists ordered by it', async () => {
  const { body: newest, headers } = await fixture.staff.get('/api/resource-sla/');
  assert.is(newest[0].period, '2018-01');
  assert.ok(Number(headers.get('x-result-count')) > 1000);
  const known = resources.filter(({ sla }) => sla !== null);
  assert.ok(known.length > 150 && known.length < resources.length);
  for (const { sla } of known)
    assert.ok(sla.period === '2018-01' && sla.agreed_value === 99.5 && sla.value >= 95 && sla.value <= 100);
  const worst = (await fixture.staff.get('/api/resources/?o=actual_sla')).body.map(({ sla }: Json) => sla.value);
  assert.equal(
    worst,
    [...worst].sort((a, b) => a - b),
  );
});

estate('has monitoring items of machines and of applications', () => {
  const items = counted(resources.flatMap(({ monitoring_items: values }) => Object.keys(values)));
  assert.equal(Object.keys(items).sort(), ['cpu_usage', 'disk_usage', 'ram_usage', 'response_time']);
  assert.ok(Object.values(items).every((count) => count > 50));
});

estate('has tags for filters', async () => {
  for (const tag of ['env:prod', 'env:stage', 'env:test', 'team:core', 'backup:daily']) {
    assert.ok(Number((await fixture.staff.get(`/api/resources/?tag=${tag}`)).headers.get('x-result-count')) > 10, tag);
  }
});

estate('has certifications of providers and projects, so that some links are not valid', async () => {
  assert.equal(
    (await fixture.staff.get('/api/service-certifications/')).body.map(({ name }: Json) => name),
    ['SOC 2', 'ISO 27001', 'GDPR'],
  );
  const [payroll] = (await fixture.staff.get('/api/projects/?name=Payroll')).body;
  assert.equal(
    payroll.services.map(({ name, validation_state }: Json) => [name, validation_state]),
    [
      ['Baltic Cloud', 'OK'],
      ['DigitalOcean', 'ERRED'],
      ['Service desk', 'ERRED'],
      ['Source code', 'ERRED'],
    ],
  );
  assert.ok(resources.every(({ is_link_valid }) => is_link_valid));
});

estate('has issues with keys, subtasks and comments', async () => {
  const issues = await everyPage(fixture.staff, '/api/jira-issues/');
  assert.is(issues.length, 20);
  assert.equal(counted(issues.map(({ key }) => key.replace(/-\d+$/, ''))), { GAME: 5, MAIL: 5, PORTAL: 5, TIME: 5 });
  assert.ok(issues.every(({ state }) => state === 'OK'));
  assert.is(issues.filter(({ parent }) => parent !== null).length, 4);
  assert.is((await everyPage(fixture.staff, '/api/jira-comments/')).filter(({ state }) => state === 'OK').length, 8);
});

estate('has events of creation, import, stop, start, resize and deletion', () => {
  const types = counted(fixture.server.app.db.values<string>(sql`SELECT type FROM event WHERE type LIKE 'resource%'`));
  for (const type of [
    'resource_creation_succeeded',
    'resource_creation_failed',
    'resource_deletion_succeeded',
    'resource_import_succeeded',
    'resource_stop_succeeded',
    'resource_stop_failed',
    'resource_start_succeeded',
    'resource_restart_succeeded',
    'resource_update_succeeded',
  ]) {
    assert.ok((types[type] ?? 0) > 0, type);
  }
});

estate('has a machine missing at its provider, with its alert, and machines that are not imported', async () => {
  const open = counted(
    (await everyPage(fixture.staff, '/api/alerts/'))
      .filter(({ closed }) => closed === null)
      .map(({ alert_type }) => alert_type),
  );
  assert.is(open.service_has_unmanaged_resources, 1);
  assert.is(
    open.resource_disappeared_from_backend,
    resources.filter(({ error_message }) => error_message === 'Does not exist at backend.').length,
  );
});

estate('has unread notifications for staff and for owners', async () => {
  for (const [username, kind] of [
    ['helena.kask', 'alert_opened'],
    ['mari.tamm', 'resource_failed'],
  ] as const) {
    const { body } = await fixture.as(username).get('/api/notifications/?unread');
    assert.ok(
      body.some((notification: Json) => notification.kind === kind),
      username,
    );
  }
});

estate('continues: pending operations end', async () => {
  await work(fixture);
  const states = counted((await everyPage(fixture.staff, '/api/resources/')).map(({ state }) => state));
  assert.equal(Object.keys(states).sort(), ['Erred', 'OK']);
  assert.is(fixture.server.app.db.value(sql`SELECT count(*) FROM job`), 0);
});

estate.run();
