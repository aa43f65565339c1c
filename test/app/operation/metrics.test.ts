/** Metrics for the operator (core.md 14.2). */

import { once } from 'node:events';
import { connect } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { EventReader } from '../../support/event-stream.ts';
import { eventually } from '../../support/eventually.ts';
import { Fixture } from '../../support/fixture.ts';
import { sendOverWire } from '../../support/wire.ts';

const test = suite('metrics');
const fixture = new Fixture();

test.before.each(() => fixture.open({ admin_listen: '0', job_delay: 0, job_tick: 0 }));
test.after.each(() => fixture.close());

const scrape = async (): Promise<string> => (await fetch(`${fixture.server.adminUrl}/metrics`)).text();

/** Returns the lines of one metric, without its name. */
const linesOf = (text: string, name: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith(name) && /^[{ ]/.test(line.slice(name.length)))
    .map((line) => line.slice(name.length));

test('counts requests by route, method and status, with one route for unknown paths and one method for unknown methods', async () => {
  for (let i = 0; i < 3; i++) await fixture.staff.get(`/api/customers/${String(i).repeat(32)}/`);
  for (let i = 0; i < 40; i++) await fixture.staff.get(`/api/random-${i}/?secret=hunter2`);
  await fixture.staff.post('/api/customers/', { name: 'Ministry' });
  for (const method of ['BREW', 'PROPFIND', 'TRACE', 'LINK'])
    await sendOverWire(fixture.url, `${method} /api/customers/ HTTP/1.1`, 'Host: localhost', 'Connection: close', '');
  await sendOverWire(fixture.url, 'NONSENSE', '');
  const text = await scrape();
  const lines = linesOf(text, 'tenantry_http_requests_total').filter((line) => !line.includes('/api/users/'));
  assert.equal(lines.sort(), [
    '{route="/api/customers/",method="POST",status="201"} 1',
    '{route="/api/customers/",method="other",status="401"} 3',
    '{route="/api/customers/:key/",method="GET",status="404"} 3',
    '{route="none",method="GET",status="404"} 40',
    '{route="none",method="other",status="400"} 2',
  ]);
  const methods = linesOf(text, 'tenantry_http_request_duration_seconds_count').map((line) => line.split('"')[1]);
  assert.equal(methods, ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'other']);
  const others = linesOf(text, 'tenantry_http_request_duration_seconds_bucket').filter((line) =>
    line.includes('other'),
  );
  assert.equal([others.length, others.at(-1)], [10, '{method="other",le="+Inf"} 5']);
  assert.ok(linesOf(text, 'tenantry_http_request_seconds_total').some((line) => line.startsWith('{route="none"} 0.')));
});

test('counts writes per commit, and hits and sizes of caches', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, i) => fixture.staff.post('/api/customers/', { name: `No. ${i}` })));
  for (let i = 0; i < 3; i++) await fixture.staff.get('/api/customers/?page_size=3');
  const text = await scrape();
  const value = (line: string): number =>
    Number(
      text
        .split('\n')
        .find((one) => one.startsWith(`${line} `))
        ?.slice(line.length) ?? 0,
    );
  assert.ok(value('tenantry_commit_writes_sum') >= 20);
  assert.ok(value('tenantry_commit_writes_count') > 0);
  assert.ok(value('tenantry_commit_duration_seconds_sum') > 0);
  assert.is(value('tenantry_cache_requests_total{cache="answers",result="hit"}'), 1);
  assert.ok(value('tenantry_cache_requests_total{cache="tokens",result="hit"}') >= 22);
});

test('counts rejected logins, provider calls, jobs, mails and pending messages of an outbox', async () => {
  for (let i = 0; i < 6; i++)
    await fixture.anonymous.post('/api-auth/password/', { username: 'admin', password: `wrong-${i}` });
  const customer = await fixture.customer('Ministry');
  const project = await fixture.project('Web', customer);
  await fixture.staff.post('/api/user-invitations/', {
    email: 'alice@example.com',
    link_template: 'https://app.example.com/{uuid}',
    customer: customer.url,
    customer_role: 'owner',
  });
  const created = await fixture.staff.post('/api/service-settings/', {
    name: 'Sim',
    type: 'OpenStack',
    customer: customer.url,
  });
  assert.is(created.status, 201, JSON.stringify([created.body, project.url]));
  const text = await scrape();
  assert.equal(linesOf(text, 'tenantry_logins_refused_total').sort(), [
    '{reason="credentials"} 4',
    '{reason="locked"} 2',
  ]);
  const [jobs] = linesOf(text, 'tenantry_jobs').filter((line) => line.includes('due'));
  assert.is(jobs, '{state="due"} 1');
  await fixture.advance(1);
  let later = '';
  await eventually('a later scrape includes the calls', async () => {
    later = await scrape();
    return later.includes('tenantry_provider_calls_total{');
  });
  assert.match(later, /tenantry_provider_calls_total\{provider="OpenStack"\} [1-9]/);
  assert.match(later, 'tenantry_mails_total{result="skipped"} 1');
  assert.match(later, 'tenantry_deliveries_total{outbox="invitations",result="skipped"} 1');
  assert.match(later, 'tenantry_outbox_depth{outbox="invitations"} 0');
});

test('counts open event streams until they end', async () => {
  const count = async (): Promise<string | undefined> => linesOf(await scrape(), 'tenantry_event_streams')[0]?.trim();
  const streams = [await EventReader.open(fixture, fixture.staff), await EventReader.open(fixture, fixture.staff)];
  await eventually('two are open', async () => (await count()) === '2');
  for (const stream of streams) stream.leave();
  await eventually('none is', async () => (await count()) === '0');
});

test('returns valid text for Prometheus without secrets, the same for concurrent scrapes', async () => {
  const responses = await Promise.all(Array.from({ length: 20 }, () => fetch(`${fixture.server.adminUrl}/metrics`)));
  assert.equal(
    new Set(responses.map(({ headers, status }) => `${status} ${headers.get('content-type')}`)),
    new Set(['200 text/plain; version=0.0.4; charset=utf-8']),
  );
  const texts = await Promise.all(responses.map((response) => response.text()));
  assert.is(new Set(texts).size, 1);
  const [text = ''] = texts;
  for (const line of text.trim().split('\n'))
    assert.match(line, /^$|^# (HELP|TYPE) \w+ .+$|^\w+(\{(\w+="[^"\\\n]*",?)+\})? -?\d+(\.\d+)?(e[+-]?\d+)?$/, line);
  assert.not.match(text, fixture.staff.token as string);
  const named = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name);
  assert.is(new Set(named).size, named.length);
});

test('does not block other scrapes with a slow reader', async () => {
  const slow = connect(Number(new URL(fixture.server.adminUrl as string).port), '127.0.0.1');
  await once(slow, 'connect');
  slow.pause();
  slow.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(50));
  assert.match(await scrape(), 'tenantry_build_info');
  assert.is((await fixture.staff.get('/api/version/')).status, 200);
  slow.destroy();
});

test('counts a million pending rows up to a limit', async () => {
  const { db } = fixture.server.app;
  db.write(() =>
    db.run(sql`
      INSERT INTO delivery (uuid, hook_id, event_type, created, next_attempt, ready, payload)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000)
      SELECT 'x' || i, i % 7, 'x', ${fixture.clock.now() - 90e6}, ${fixture.clock.now() + 1e9}, 0, '{}' FROM n`),
  );
  db.commit();
  const text = await scrape();
  assert.match(text, 'tenantry_outbox_depth{outbox="hooks"} 100000\n');
  assert.match(text, 'tenantry_outbox_oldest_age_seconds{outbox="hooks"} 90\n');
});

test.run();
