/** Measures the decisions about responses: routes, pages in two steps, JSON built in SQLite, cached counts. */

import { once } from 'node:events';
import { copyFileSync, mkdirSync } from 'node:fs';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { Router as IttyRouter } from 'itty-router';
import { createServer, type Server } from 'tenantry';
import { customers } from '../../../src/accounts/customers/customers.ts';
import { api } from '../../../src/app/compose/api.ts';
import { builtIn } from '../../../src/app/compose/providers.ts';
import type { Caller } from '../../../src/kernel/access/caller.ts';
import { Request } from '../../../src/kernel/access/request.ts';
import { visibleCustomers } from '../../../src/kernel/access/visibility.ts';
import type { App } from '../../../src/kernel/app.ts';
import type { Endpoint } from '../../../src/kernel/collection/endpoint.ts';
import { viewerParameters } from '../../../src/kernel/collection/listing.ts';
import { renderObject } from '../../../src/kernel/collection/representation.ts';
import { raw, type Sql, sql } from '../../../src/kernel/db/sql.ts';
import { EndOfIteration } from '../../../src/kernel/http/http-server.ts';
import { IncomingRequest } from '../../../src/kernel/http/incoming-request.ts';
import { Router } from '../../../src/kernel/http/router.ts';
import { compiled } from '../../support/compiled.ts';
import { numberMark } from '../ask.ts';
import { customersOf } from '../peer/customers.ts';
import { type Load, startLoad } from '../processes.ts';
import { seed, tokenOf } from '../seed.ts';
import { alternate, type Comparison, type Measure, microsecondsEach, used } from './comparison.ts';

const base = 'http://tenantry.example';
const size = { name: '1,000', customers: 1000, users: 2000 };
const rounds = 7;

export const responses: Measure = async (folder) => {
  const routed = await routes();
  await seed(join(folder, 'tenantry.db'), size);
  const server = await createServer({ data: folder, port: 0, log_level: 'silent' });
  let comparisons: Comparison[];
  try {
    comparisons = [
      ...routed,
      ...(await jsonInSqlite(server.app, folder)),
      ...(await twoSteps(server.app)),
      ...(await counts(server.app)),
      ...(await documents(server)),
    ];
  } finally {
    await server.close();
  }
  return [...comparisons, ...(await cachedTexts(folder)), ...(await together())];
};

/** Microseconds of CPU time that a request takes before its response, and bytes of the response. */
const working = 10;
const bodyBytes = 3300;

/** Requests of 64 connections to a server that sends the responses of a turn together, and to one that sends each immediately. */
async function together(): Promise<Comparison[]> {
  const load = startLoad(compiled(new URL('../load.ts', import.meta.url)));
  const body = Buffer.alloc(bodyBytes, 'x');
  const ready = new EndOfIteration();
  const serve = async (send: (work: () => void) => void): Promise<HttpServer> => {
    const server = createHttpServer((_, outgoing) => {
      const until = performance.now() + working / 1000;
      while (performance.now() < until);
      send(() => outgoing.end(body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  const [decision, without] = [await serve((work) => ready.add(work)), await serve((work) => work())];
  const measure = (server: HttpServer): Promise<number> =>
    each(load, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ['/'], '', 64);
  try {
    const figures = await alternate(
      rounds,
      () => measure(decision),
      () => measure(without),
    );
    return [{ page: 'output', what: 'A request of 64 connections', unit: 'µs', ...figures }];
  } finally {
    await load.stop();
    for (const server of [decision, without]) server.close();
  }
}

/** Requests with new URLs to a server that caches representations, and to one that does not. */
async function cachedTexts(folder: string): Promise<Comparison[]> {
  const plain = join(folder, 'plain');
  mkdirSync(plain);
  copyFileSync(join(folder, 'tenantry.db'), join(plain, 'tenantry.db'));
  copyFileSync(join(folder, 'secret.key'), join(plain, 'secret.key'));
  const options = { port: 0, log_level: 'silent' };
  const [decision, without] = [
    await createServer({ ...options, data: folder }),
    await createServer({ ...options, data: plain, memory_budget_bytes: 0 }),
  ];
  const load = startLoad(compiled(new URL('../load.ts', import.meta.url)));
  const comparisons: Comparison[] = [];
  try {
    for (const [what, targets] of Object.entries(targetsOf(decision.app))) {
      const figures = await alternate(
        rounds,
        () => each(load, decision.url, targets, `fresh=${numberMark}`),
        () => each(load, without.url, targets, `fresh=${numberMark}`),
      );
      comparisons.push({ page: 'caching', what: `${what} at a new URL`, unit: 'µs', ...figures });
    }
  } finally {
    await Promise.all([load.stop(), decision.close(), without.close()]);
  }
  return comparisons;
}

/** The targets, up to a meaningless parameter. */
function targetsOf({ db }: App): Record<string, string[]> {
  const uuids = db.values<string>(raw('SELECT uuid FROM customer LIMIT 100'));
  return {
    'GET of a customer': uuids.map((uuid) => `/api/customers/${uuid}/?`),
    'GET of ten customers': Array.from({ length: 20 }, (_, i) => `/api/customers/?page=${i + 1}&`),
  };
}

/** CPU time of this process, in microseconds, per request of a burst. */
async function each(
  load: Load,
  url: string,
  targets: readonly string[],
  tail: string,
  connections = 16,
): Promise<number> {
  const requests = targets.map((target) => ({
    method: 'GET' as const,
    target: target + tail,
    token: tokenOf('staff'),
  }));
  const started = used();
  const { perSecond } = await load.run({ url, requests, connections, milliseconds: 500 });
  return (used() - started) / (perSecond / 2);
}

/** Looks up each route of the API once, with a key where it has one. */
async function routes(): Promise<Comparison[]> {
  const own = new Router<Endpoint>();
  const theirs = IttyRouter();
  for (const endpoint of api(builtIn)) {
    own.add(endpoint);
    theirs.all(endpoint.path, () => endpoint);
  }
  const uuid = '0a1b2c3d4e5f60718293a4b5c6d7e8f9';
  const paths = api(builtIn).map(({ key, path }) => path.replaceAll(/:\w+/g, key === 'pk' ? '7' : uuid));
  const requests = paths.map((path) => ({ method: 'GET', url: base + path }));
  const matches = (endpoint: Endpoint | undefined): void => {
    if (!endpoint) throw new Error('A path of the API was not found');
  };
  const each = async (find: (i: number) => unknown): Promise<number> => {
    const started = used();
    for (let time = 0; time < 20; time++) for (let i = 0; i < paths.length; i++) await find(i);
    return (used() - started) / 20 / paths.length;
  };
  const figures = await alternate(
    rounds,
    () => microsecondsEach(20 * paths.length, (i) => matches(own.find(paths[i % paths.length] as string)?.endpoint)),
    () => each(async (i) => matches((await theirs.fetch(requests[i] as (typeof requests)[number])) as Endpoint)),
  );
  const patterns = theirs.routes.map(([, pattern]) => pattern);
  const inOneList = await alternate(
    rounds,
    () => microsecondsEach(20 * paths.length, (i) => matches(own.find(paths[i % paths.length] as string)?.endpoint)),
    () =>
      microsecondsEach(20 * paths.length, (i) => {
        const path = paths[i % paths.length] as string;
        return patterns.find((pattern) => pattern.exec(path));
      }),
  );
  const what = `Finding one of ${api(builtIn).length} routes`;
  return [
    { page: 'router', what: `${what}, against the loop of itty-router`, unit: 'µs', ...figures },
    { page: 'router', what: `${what}, against its patterns in one list`, unit: 'µs', ...inOneList },
  ];
}

function callerNamed({ db }: App, username: string): Caller {
  const row = db.get<{ id: number; uuid: string; is_staff: number; full_name: string; native_name: string }>(
    sql`SELECT id, uuid, is_staff, full_name, native_name FROM user WHERE username = ${username}`,
  );
  if (!row) throw new Error(`There is no ${username}`);
  const { full_name: fullName, id, is_staff: isStaff, native_name: nativeName, uuid } = row;
  return {
    id,
    uuid,
    username,
    fullName,
    nativeName,
    isStaff: isStaff === 1,
    isSupport: false,
    isRestricted: false,
    mustEnrol: false,
    tokenId: 0,
    token: '',
    userId: id,
    apiKey: null,
    impersonator: null,
    isServiceAccount: false,
    credential: '',
  };
}

function requestOf(app: App, caller: Caller, target: string): Request {
  const incoming = new IncomingRequest('bench', 'GET', target, {}, '127.0.0.1', base);
  return new Request(app, incoming, {}, caller, app.clock.now());
}

/** Ten customers as JSON text, and as objects from rows with one query per relation, as in the peer of the benchmark. */
async function jsonInSqlite(app: App, folder: string): Promise<Comparison[]> {
  const handle = new SQLite(join(folder, 'tenantry.db'), { readonly: true });
  const peer = customersOf(handle);
  const staff = callerNamed(app, 'staff');
  const request = requestOf(app, staff, '/api/customers/');
  const ids = app.db.values<number>(raw('SELECT id FROM customer ORDER BY name COLLATE NOCASE, id LIMIT 10'));
  const theirCaller = { id: staff.id, is_staff: 1, is_support: 0 } as unknown as Parameters<typeof peer.list>[1];
  const decision = (): string => `[${customers.listing.represent(request, ids).join(',')}]`;
  const without = (): string => JSON.stringify(peer.list(base, theirCaller, 1).items);
  if (decision() !== without()) throw new Error('The two representations differ');
  const figures = await alternate(
    rounds,
    () => microsecondsEach(200, decision),
    () => microsecondsEach(200, without),
  );
  handle.close();
  return [{ page: 'json-in-sqlite', what: 'Ten customers as JSON', unit: 'µs', ...figures }];
}

/** Loads a page with a query for ids and one for representations, and with one statement for both. */
async function twoSteps(app: App): Promise<Comparison[]> {
  const { db } = app;
  const { listing } = customers;
  const members = Object.entries(listing.spec.fields).flatMap(([name, field]) =>
    field.json ? [{ name, value: field.json(`c.${name}`), text: field.shownIf }] : [],
  );
  const compare = async (person: string, order: string): Promise<Comparison> => {
    const request = requestOf(app, callerNamed(app, person), '/api/customers/');
    const visible = visibleCustomers(request.caller, 'c.id');
    const where: Sql = visible.text === 'TRUE' ? raw('') : sql`WHERE ${visible}`;
    const ids = sql`SELECT c.id FROM customer c ${where} ORDER BY ${raw(order)} LIMIT 10`;
    // A visibility condition binds at most one value, the caller, which is also a parameter of the representation.
    const atOnce = `SELECT ${renderObject(members)} FROM customer c ${where.text.replaceAll('?', '@caller')} ORDER BY ${order} LIMIT 10`;
    const decision = (): string[] => listing.represent(request, db.values<number>(ids));
    const without = (): string[] => db.named<string>(atOnce, viewerParameters(request));
    if (decision().join() !== without().join()) throw new Error('The two pages differ');
    const figures = await alternate(
      rounds,
      () => microsecondsEach(20, decision),
      () => microsecondsEach(20, without),
    );
    return {
      page: 'query-plans',
      what: `Ten customers as ${person} by ${order.split(',')[0]}`,
      unit: 'µs',
      ...figures,
    };
  };
  return [await compare('owner', 'c.name COLLATE NOCASE, c.id'), await compare('staff', 'c.created, c.id')];
}

async function counts({ db }: App): Promise<Comparison[]> {
  const query = sql`SELECT count(*) FROM project p WHERE p.name LIKE ${'%site%'}`;
  const figures = await alternate(
    rounds,
    () => microsecondsEach(50, () => db.count(query)),
    () => microsecondsEach(50, () => db.value<number>(query)),
  );
  return [{ page: 'caching', what: 'The number of matches among 3,000 projects', unit: 'µs', ...figures }];
}

/** Requests of the load generator, a separate process, for known URLs and for new ones, each with a new parameter. */
async function documents({ app, url }: Server): Promise<Comparison[]> {
  const load = startLoad(compiled(new URL('../load.ts', import.meta.url)));
  const comparisons: Comparison[] = [];
  for (const [what, targets] of Object.entries(targetsOf(app))) {
    const figures = await alternate(
      rounds,
      () => each(load, url, targets, 'fresh=0'),
      () => each(load, url, targets, `fresh=${numberMark}`),
    );
    comparisons.push({ page: 'caching', what, unit: 'µs', ...figures });
  }
  await load.stop();
  return comparisons;
}
