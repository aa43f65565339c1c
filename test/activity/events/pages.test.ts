import * as assert from 'uvu/assert';
import { record } from '../../../src/activity/events/record.ts';
import type { EventContext } from '../../../src/activity/scopes/scope.ts';
import { systemContext } from '../../../src/kernel/access/context.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

/*
 * A log large enough to exercise every query plan, compared with a full scan that applies the rule. A fixed seed generates roles,
 * moves and events.
 */
const { test, fixture } = suiteWithServer('pages of a long log (events.md 4.5, 4.7)');
const customers = 450;
const events = 6000;
const users = ['nobody', 'single', 'several', 'mover', 'reseller'] as const;
type Name = (typeof users)[number];

interface Logged {
  readonly id: number;
  readonly type: string;
  readonly message: string;
  readonly context: Readonly<Record<string, string>>;
}

let log: readonly Logged[];
const clients = new Map<Name | 'staff', Client>();
const uuids = new Map<string, string>();
/** Returns the uuids of the customers in which a user has a role, and of the projects that they can read. */
const held = new Map<Name, { customers: Set<string>; projects: Set<string> }>();

let state = 20180105;
const draw = (below: number): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};

const customerUuid = (i: number): string => `c${String(i).padStart(31, '0')}`;
const projectUuid = (i: number): string => `e${String(i).padStart(31, '0')}`;

test.before(async () => {
  for (const name of users) uuids.set(name, (await fixture.user(name)).uuid);
  const { app } = fixture.server;
  const { db } = app;
  const idOf = (name: Name): number =>
    db.value<number>(sql`SELECT id FROM user WHERE uuid = ${uuids.get(name) as string}`) as number;
  // Project i starts in customer i. Every third one moves to the next customer half way through the log.
  const moves = (i: number): boolean => i % 3 === 0;
  const home = (i: number, isLate: boolean): number => (isLate && moves(i) ? (i + 2) % customers : i);
  db.write(() => {
    for (let i = 0; i < customers; i++)
      db.insert('customer', { id: i + 1, uuid: customerUuid(i), name: `Customer ${i}`, created: 0 });
    for (let i = 0; i < customers; i++) {
      db.insert('project', {
        id: i + 1,
        uuid: projectUuid(i),
        name: `Project ${i}`,
        customer_id: home(i, true) + 1,
        created: 0,
        moved: Number(moves(i)),
      });
    }
    const grant = (structure: 'customer' | 'project', name: Name, i: number): void =>
      void db.insert(`${structure}_role`, {
        [`${structure}_id`]: i + 1,
        user_id: idOf(name),
        role: 'support',
        created: 0,
      });
    grant('customer', 'single', 7);
    for (const i of [3, 4, 30, 31, 32]) grant('customer', 'several', i);
    for (const i of [3, 5, 60, 61, 62]) grant('project', 'several', i);
    for (const i of [0, 3, 6, 9, 12, 13]) grant('project', 'mover', i);
    for (const i of [2, 5]) grant('customer', 'mover', i);
    for (let i = 0; i < 430; i++) grant('customer', 'reseller', i);
    for (let i = 0; i < events; i++) {
      const isLate = i > events / 2;
      const project = draw(customers);
      const customer = home(project, isLate);
      const inProject = draw(2) === 0;
      const [actor, affected] = [users[draw(40)], users[draw(60)]];
      const details: EventContext = {
        ...(draw(10) > 0 && { customer_uuid: customerUuid(customer), customer_name: `Customer ${customer}` }),
        user_uuid: actor && (uuids.get(actor) as string),
        user_username: actor,
        affected_user_uuid: affected && (uuids.get(affected) as string),
      };
      const all = inProject
        ? {
            ...details,
            project_uuid: projectUuid(project),
            project_name: `Project ${project}`,
            customer_uuid: customerUuid(customer),
          }
        : details;
      const context = { ...systemContext(app), now: 1_000_000 * (1000 + Math.floor(i / 3)) };
      record(
        context,
        draw(50) === 0 ? 'role_granted' : draw(2) ? 'customer_update_succeeded' : 'project_update_succeeded',
        all,
        { message: draw(80) === 0 ? 'rare word' : 'common word' },
      );
    }
  });
  db.commit();
  log = db
    .all<Logged & { context: string }>(sql`SELECT * FROM event ORDER BY at DESC, id DESC`)
    .map((row) => ({ ...row, context: JSON.parse(row.context) }));
  for (const name of users) {
    clients.set(name, fixture.as(name));
    const own = new Set(
      db.values<string>(
        sql`SELECT c.uuid FROM customer c JOIN customer_role r ON r.customer_id = c.id WHERE r.user_id = ${idOf(name)}`,
      ),
    );
    const projects = new Set(
      db.values<string>(sql`SELECT p.uuid FROM project p JOIN customer c ON c.id = p.customer_id WHERE c.uuid IN (SELECT value FROM json_each(${JSON.stringify([...own])}))
      OR p.id IN (SELECT project_id FROM project_role WHERE user_id = ${idOf(name)})`),
    );
    held.set(name, { customers: own, projects });
  }
  clients.set('staff', fixture.staff);
});

/** The rule of 4.5. */
function sees(name: Name | 'staff', { context }: Logged): boolean {
  if (name === 'staff') return true;
  const { customers: own, projects } = held.get(name) as { customers: Set<string>; projects: Set<string> };
  const me = uuids.get(name);
  return (
    context.user_uuid === me ||
    context.affected_user_uuid === me ||
    own.has(context.customer_uuid ?? '') ||
    projects.has(context.project_uuid ?? '')
  );
}

const filters: Readonly<Record<string, (event: Logged) => boolean>> = {
  '': () => true,
  'event_type=role_granted': ({ type }) => type === 'role_granted',
  'event_type=customer_update_succeeded&event_type=role_granted': ({ type }) =>
    type !== 'project_update_succeeded' && type !== 'user_creation_succeeded',
  'exclude_features=projects': ({ type }) => type === 'customer_update_succeeded' || type === 'user_creation_succeeded',
  'search=rare+word': ({ message }) => message === 'rare word',
  'search=word': ({ message }) => message.endsWith('word'),
  'user_username=Several': ({ context }) => context.user_username === 'several',
  'scope_type=project&search=rare': ({ context, message }) =>
    context.project_uuid !== undefined && message === 'rare word',
  'search=common&event_type=role_granted&from=1500&to=2500': ({ message, type, id }) =>
    message === 'common word' && type === 'role_granted' && timeOf(id) >= 1500 && timeOf(id) < 2500,
  'from=2000': ({ id }) => timeOf(id) >= 2000,
};

const timeOf = (id: number): number => times.get(id) as number;
const times = new Map<number, number>();

/** Returns the events that match the rule, latest first. */
function expected(name: Name | 'staff', filter: string): string[] {
  const { db } = fixture.server.app;
  if (times.size === 0)
    for (const { at, id } of db.all<{ id: number; at: number }>(sql`SELECT id, at FROM event`))
      times.set(id, at / 1_000_000);
  const scoped = filter.startsWith('scope_type') && name !== 'staff';
  return log
    .filter((event) => sees(name, event) && (filters[filter] as (event: Logged) => boolean)(event))
    .filter(({ context }) => !scoped || held.get(name as Name)?.projects.has(context.project_uuid ?? ''))
    .map(({ id }) => uuidOf(id));
}
const uuidOf = (id: number): string => {
  if (known.size === 0)
    for (const { id: each, uuid } of fixture.server.app.db.all<{ id: number; uuid: string }>(
      sql`SELECT id, uuid FROM event`,
    ))
      known.set(each, uuid);
  return known.get(id) as string;
};
const known = new Map<number, string>();

for (const name of ['staff', ...users] as const) {
  test(`${name}: every page, in both directions and with every filter, has the events that the rule selects`, async () => {
    const client = clients.get(name) as Client;
    for (const filter of Object.keys(filters)) {
      const all = expected(name, filter);
      assert.equal((await client.get(`/api/events/count/?${filter}`)).body, { count: all.length }, filter);
      for (const [direction, order] of [
        ['-@timestamp', all],
        ['@timestamp', [...all].reverse()],
      ] as const) {
        // The first small page uses a different plan than a page deep in the list.
        for (const [size, page] of [
          [5, 1],
          [5, 2],
          [50, 1],
          [50, Math.ceil(all.length / 100)],
          [50, Math.ceil(all.length / 50)],
        ] as const) {
          if (page < 1 || (page - 1) * size >= Math.max(1, all.length)) continue;
          const { body } = await client.get(`/api/events/?${filter}&o=${direction}&page_size=${size}&page=${page}`);
          assert.equal(
            body.map((event: Json) => event.uuid),
            order.slice(size * (page - 1), size * page),
            `${filter}, ${direction}, page ${page} of ${size}`,
          );
        }
      }
    }
  });

  test(`${name}: the counts over time agree with the rule`, async () => {
    const client = clients.get(name) as Client;
    for (const filter of ['', 'search=word', 'event_type=role_granted']) {
      const all = expected(name, filter);
      const points = [3000, 1500, 900, 2500];
      const { body } = await client.get(
        `/api/events/count_history/?${filter}&${points.map((point) => `point=${point}`).join('&')}`,
      );
      const visible = new Set(all);
      assert.equal(
        body,
        points.map((point) => ({
          point,
          object: { count: [...known].filter(([id, uuid]) => visible.has(uuid) && timeOf(id) < point).length },
        })),
        filter,
      );
    }
  });
}

test.run();
