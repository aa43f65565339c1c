/**
 * Resources at full size: lists and counts of 100,000 resources in 3,000 projects while they change, and response times
 * while 1,000 simulated creations run.
 *
 *   npm run bench -- --only resources
 *
 * Prints a Markdown table. Each request follows a write, so that no response comes from the cache.
 */

import { constants, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createServer, type Server } from 'tenantry';
import type { App } from '../../src/kernel/app.ts';
import { raw, sql } from '../../src/kernel/db/sql.ts';
import { catalogue } from '../support/catalogue.ts';
import { ask } from './ask.ts';
import { type Person, type Size, seed, seedDigest, tokenOf } from './seed.ts';

/** The locations of resources. */
export const size: Size = { name: '1,000', customers: 1000, users: 2000 };
const usual = 100_000;

interface Figure {
  readonly what: string;
  readonly median: number;
  readonly value: number;
  readonly atMost: number;
}

const questions: readonly { readonly what: string; readonly target: string; readonly atMost: number }[] = [
  { what: 'First page', target: '/api/resources/', atMost: 30 },
  { what: 'By tag', target: '/api/resources/?tag=team:7', atMost: 60 },
  { what: 'By monitoring item', target: '/api/resources/?monitoring__load=7', atMost: 60 },
  { what: 'Ordered by SLA', target: '/api/resources/?o=-actual_sla', atMost: 60 },
  { what: 'Counts', target: '/api/resources/count/', atMost: 60 },
];

/** Measures everything on a copy of the database inside `folder`. */
export async function run(folder: string, report: (text: string) => void, count = usual): Promise<string> {
  const seeded = join(folder, `resources-${seedDigest()}.db`);
  report(`A database of ${size.name} customers …`);
  await seed(seeded, size);
  const data = join(folder, 'resources');
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  copyFileSync(seeded, join(data, 'tenantry.db'), constants.COPYFILE_FICLONE);
  const server = await createServer({ data, port: 0, log_level: 'silent' });
  try {
    report(`${count.toLocaleString('en')} resources …`);
    fill(server.app, count);
    const figures: Figure[] = [];
    for (const person of ['staff', 'owner', 'member'] as const) {
      for (const question of questions) figures.push(await requests(server, question, person));
    }
    report('1,000 creations …');
    figures.push(await creations(server));
    return table(figures);
  } finally {
    await server.close();
    rmSync(data, { recursive: true });
  }
}

const uuid = 'lower(hex(randomblob(16)))';
const numbers = (n: number): string =>
  `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ${n})`;

/** Creates a service of every type for every customer, linked to all of its projects, with resources spread over them. */
export function fill({ clock, db }: App, count: number): void {
  const now = clock.now();
  const kinds = catalogue.kinds.filter(({ kind }) => !kind.isPart).map(({ name }) => name);
  const types = [...new Set(kinds.map((name) => name.split('.')[0] as string))];
  const month = new Date(now / 1000).toISOString().slice(0, 7);
  db.write(() => {
    for (const type of types) {
      const settings = db.insert('service_settings', {
        uuid: db.value<string>(raw(`SELECT ${uuid}`)) as string,
        name: `${type} for all`,
        type,
        state: 'In Sync',
        shared: 1,
        created: now,
        synced: now,
      });
      db.run(
        sql`INSERT INTO service (uuid, customer_id, settings_id, available_for_all) SELECT ${raw(uuid)}, id, ${settings}, 1 FROM customer`,
      );
    }
    db.run(
      raw(
        `INSERT INTO service_project_link (uuid, service_id, project_id) SELECT ${uuid}, v.id, p.id FROM service v JOIN project p ON p.customer_id = v.customer_id`,
      ),
    );
    // Every link is allowed.
    db.run(raw('DELETE FROM project_certification'));
    db.run(sql`CREATE TEMP TABLE place AS SELECT row_number() OVER (ORDER BY p.id, l.id) AS n, l.id AS link, v.id AS service, v.settings_id AS settings, p.id AS project, p.customer_id AS customer, st.type
      FROM service_project_link l JOIN service v ON v.id = l.service_id JOIN service_settings st ON st.id = v.settings_id JOIN project p ON p.id = l.project_id`);
    const places = db.value<number>(raw('SELECT count(*) FROM place')) as number;
    for (const [i, kind] of kinds.entries()) {
      const share = Math.floor(count / kinds.length);
      const type = kind.split('.')[0] as string;
      const ofType = Math.floor(places / types.length);
      db.run(
        sql`CREATE TEMP TABLE own AS SELECT row_number() OVER (ORDER BY n) AS n, link, service, settings, project, customer FROM place WHERE type = ${type}`,
      );
      db.run(sql`${raw(numbers(share))} INSERT INTO resource (uuid, kind, link_id, service_id, settings_id, project_id, customer_id, name, state, runtime_state, backend_id, created, cores, ram, disk)
        SELECT ${raw(uuid)}, ${kind}, o.link, o.service, o.settings, o.project, o.customer, 'resource-' || i, iif(i % 20, 'OK', 'Erred'), 'online', ${kind} || i, ${now - 1_000_000_000} + i * 1000 + ${i}, 2, 2048, 20480
        FROM n JOIN own o ON o.n = 1 + i * 7919 % ${ofType}`);
      db.run(raw('DROP TABLE own'));
    }
    db.run(raw('DROP TABLE place'));
    db.run(
      raw(
        "INSERT INTO resource_tag (resource_id, tag, prefix, value) SELECT id, 'team:' || (id % 100), 'team', id % 100 FROM resource",
      ),
    );
    db.run(
      sql`INSERT INTO resource_sla (resource_id, period, value, agreed_value) SELECT id, ${month}, 90 + id % 100 / 10.0, 95 FROM resource WHERE id % 2`,
    );
    db.run(raw("INSERT INTO monitoring_item (resource_id, name, value) SELECT id, 'load', id % 50 FROM resource"));
  });
  db.commit();
  db.script('ANALYZE');
}

/** The 99th percentile of the response times of a question while resources change. */
async function requests(
  server: Server,
  { atMost, target, what }: (typeof questions)[number],
  person: Person,
): Promise<Figure> {
  const { db } = server.app;
  const milliseconds: number[] = [];
  for (let i = 0; i < 200; i++) {
    db.write(() => db.run(sql`UPDATE resource SET description = ${String(i)} WHERE id = ${1 + i}`));
    db.commit();
    const started = performance.now();
    const { body, status } = await ask(server.url, { method: 'GET', target, token: tokenOf(person) });
    milliseconds.push(performance.now() - started);
    if (status !== 200) throw new Error(`${target} returned ${status}: ${body}`);
  }
  return {
    what: `${what} as ${person}, p99`,
    median: quantile(milliseconds, 0.5),
    value: quantile(milliseconds, 0.99),
    atMost,
  };
}

/** Response times of the API while 1,000 droplets are created on the simulator. */
async function creations(server: Server): Promise<Figure> {
  const { db } = server.app;
  const token = tokenOf('staff');
  const send = async (
    method: 'GET' | 'POST',
    target: string,
    body?: unknown,
  ): Promise<{ status: number; body: string }> =>
    ask(server.url, { method, target, token, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const first = async (target: string): Promise<{ url: string; name: string; state: string }[]> =>
    JSON.parse((await send('GET', target)).body);
  // An account creates four at a time, so spread the thousand over the accounts of fifty customers.
  const links: string[] = [];
  for (const { uuid } of db.all<{ uuid: string; id: number }>(
    raw('SELECT id, uuid FROM customer ORDER BY id LIMIT 50'),
  )) {
    const project = db.value<string>(
      sql`SELECT p.uuid FROM project p JOIN customer c ON c.id = p.customer_id WHERE c.uuid = ${uuid}`,
    );
    const { body, status } = await send('POST', '/api/digitalocean/', {
      name: 'Fresh',
      customer: `/api/customers/${uuid}/`,
      project: `/api/projects/${project}/`,
      simulator_latency: '500',
    });
    if (status !== 201) throw new Error(`Creating a service returned ${status}: ${body}`);
    const link = db.value<string>(
      sql`SELECT l.uuid FROM service_project_link l JOIN service v ON v.id = l.service_id WHERE v.uuid = ${(JSON.parse(body) as { uuid: string }).uuid}`,
    ) as string;
    links.push(...Array.from({ length: 20 }, () => link));
  }
  const waiting = (): number => db.value<number>(raw("SELECT count(*) FROM job WHERE operation = 'sync'")) as number;
  while (waiting() > 0) await new Promise((resolve) => setTimeout(resolve, 200));
  const [image] = await first('/api/digitalocean-images/?name=Debian');
  const [region] = await first('/api/digitalocean-regions/');
  const [machine] = await first('/api/digitalocean-sizes/');
  const milliseconds: number[] = [];
  await Promise.all(
    links.map(async (link, i) => {
      const { body, status } = await send('POST', '/api/digitalocean-droplets/', {
        name: `machine-${i}`,
        service_project_link: `/api/digitalocean-service-project-link/${link}/`,
        image: image?.url,
        region: region?.url,
        size: machine?.url,
      });
      if (status !== 201) throw new Error(`Creating a droplet returned ${status}: ${body}`);
    }),
  );
  const until = performance.now() + 120_000;
  const unfinished = (): number =>
    db.value<number>(raw('SELECT count(*) FROM job WHERE resource_id IS NOT NULL')) as number;
  while (unfinished() > 0 && performance.now() < until) {
    const started = performance.now();
    await send('GET', '/api/resources/?state=Creating');
    milliseconds.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return {
    what: `GET while 1,000 creations run (${unfinished()} left after two minutes), p99`,
    median: quantile(milliseconds, 0.5),
    value: quantile(milliseconds, 0.99),
    atMost: 50,
  };
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] as number;
}

function table(figures: readonly Figure[]): string {
  const rows = figures.map(
    ({ atMost, median, value, what }) =>
      `| ${what} | ${median.toFixed(1)} ms | ${value.toFixed(1)} ms | ≤ ${atMost} ms ${value <= atMost ? '✓' : '✗ missed'} |`,
  );
  return ['| Figure | Median | Measured | Target |', '| :-- | --: | --: | :-- |', ...rows].join('\n');
}
