import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../../kernel/app.ts';
import { second } from '../../kernel/clock.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import type { CacheCounts } from '../../kernel/metrics/metrics.ts';
import { namesOf } from '../../kernel/names.ts';
import type { OutboxName } from '../../kernel/outbox/outboxes.ts';
import { version } from '../../kernel/version.ts';
import { databaseFile } from '../data/data-folder.ts';
import type { Reading, Sample } from './samples.ts';

/** Rows are counted up to this many: reading the metrics must not keep anybody waiting. */
const mostCounted = 100_000;

/** Of each outbox its table, and the index of what is yet to be sent. */
const outboxes: Readonly<Record<OutboxName, readonly [table: string, index: string]>> = {
  hooks: ['delivery', 'delivery_pending'],
  invitations: ['invitation_mail', 'invitation_mail_due'],
  notices: ['user_notice', 'user_notice_due'],
  passwords: ['password_reset', 'password_reset_due'],
};

export const outboxNames = namesOf(outboxes);

/** How many rows an outbox has yet to send, and when the oldest of them was queued, in microseconds. */
export function outboxState({ db }: App, name: OutboxName): { depth: number; oldest: number | null } {
  const [table, index] = outboxes[name];
  return db.one(sql`
    SELECT depth, (SELECT created FROM ${raw(table)} WHERE id = first) AS oldest FROM (
      SELECT count(*) AS depth, min(id) AS first FROM (
        SELECT id FROM ${raw(`${table} INDEXED BY ${index}`)} WHERE status = 'pending' LIMIT ${mostCounted}))`);
}

function jobStates({ clock, db }: App): Sample[] {
  const now = clock.now();
  const { due, running, waiting } = db.one<{ due: number; running: number; waiting: number }>(sql`
    SELECT
      ifnull(sum(lease > ${now}), 0) AS running,
      ifnull(sum(due <= ${now} AND ifnull(lease, 0) <= ${now}), 0) AS due,
      ifnull(sum(due > ${now} AND ifnull(lease, 0) <= ${now}), 0) AS waiting
    FROM (SELECT due, lease FROM job LIMIT ${mostCounted})`);
  return [
    [running, 'running'],
    [due, 'due'],
    [waiting, 'waiting'],
  ];
}

const sizeOf = async (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

/** What is there of the data in its folder, in bytes. */
const storage = (folder: string): readonly Reading[] => [
  {
    name: 'tenantry_database_bytes',
    help: 'Size of the file of the database.',
    type: 'gauge',
    read: async () => [[await sizeOf(join(folder, databaseFile))]],
  },
  {
    name: 'tenantry_write_ahead_log_bytes',
    help: 'Size of the write-ahead log beside it.',
    type: 'gauge',
    read: async () => [[await sizeOf(join(folder, `${databaseFile}-wal`))]],
  },
  {
    name: 'tenantry_disk_free_bytes',
    help: 'Room on the disk of the data folder.',
    type: 'gauge',
    read: async () => {
      const { bavail, bsize } = await statfs(folder);
      return [[bavail * bsize]];
    },
  },
];

/** Everything that one number tells, of a deployment in a folder, or in memory. `quiet` is how long ago the timer ran, in ms. */
export function readings(app: App, folder: string | undefined, quiet: () => number): readonly Reading[] {
  const { db, metrics } = app;
  const counted = (list: ReturnType<typeof metrics.mails.list>): Sample[] =>
    list.map(({ count, labels }) => [count, ...labels]);
  const perCache = (name: string, { hits, misses }: CacheCounts): Sample[] => [
    [hits, name, 'hit'],
    [misses, name, 'miss'],
  ];
  const sqlite = String(db.value(sql`SELECT sqlite_version()`));
  return [
    {
      name: 'tenantry_build_info',
      help: 'The versions of the program and of what it runs on; always 1.',
      type: 'gauge',
      labels: ['version', 'node', 'sqlite'],
      read: () => [[1, version, process.versions.node, sqlite]],
    },
    {
      name: 'tenantry_http_requests_total',
      help: 'Answered requests. The route is the pattern of the path; "none" is a path that leads nowhere.',
      type: 'counter',
      labels: ['route', 'method', 'status'],
      read: () =>
        metrics.requests
          .answers()
          .map(({ count, method, route, status }) => [count, routeLabel(route), method, status]),
    },
    {
      name: 'tenantry_http_request_seconds_total',
      help: 'Time that requests took together, from their headers to their answers, by route.',
      type: 'counter',
      labels: ['route'],
      read: () => metrics.requests.seconds().map(({ route, seconds }) => [seconds, routeLabel(route)]),
    },
    {
      name: 'tenantry_cache_requests_total',
      help: 'What was looked up in memory before it was made: whole answers, texts of objects, tokens.',
      type: 'counter',
      labels: ['cache', 'result'],
      read: () => namesOf(metrics.caches).flatMap((name) => perCache(name, metrics.caches[name])),
    },
    {
      name: 'tenantry_commit_failures_total',
      help: 'Commits that failed, by why: the disk is full, broken, or another process writes.',
      type: 'counter',
      labels: ['reason'],
      read: () => counted(db.commits.failures.list()),
    },
    ...(folder === undefined ? [] : storage(folder)),
    {
      name: 'tenantry_outbox_depth',
      help: `What waits to be sent, and to be sent again; ${mostCounted} stands for more, too.`,
      type: 'gauge',
      labels: ['outbox'],
      read: () => namesOf(outboxes).map((name) => [outboxState(app, name).depth, name]),
    },
    {
      name: 'tenantry_outbox_oldest_age_seconds',
      help: 'For how long the oldest of it has waited.',
      type: 'gauge',
      labels: ['outbox'],
      read: () =>
        namesOf(outboxes).map((name) => {
          const { oldest } = outboxState(app, name);
          return [oldest === null ? 0 : Math.max(0, app.clock.now() - oldest) / second, name];
        }),
    },
    {
      name: 'tenantry_deliveries_total',
      help: 'Attempts to send what is in an outbox, by how they ended.',
      type: 'counter',
      labels: ['outbox', 'result'],
      read: () => counted(metrics.deliveries.list()),
    },
    {
      name: 'tenantry_mails_total',
      help: 'Mails handed to the mail server; without one they are skipped.',
      type: 'counter',
      labels: ['result'],
      read: () => counted(metrics.mails.list()),
    },
    {
      name: 'tenantry_jobs',
      help: `Jobs at providers: running, due, and waiting for their time; counted up to ${mostCounted}.`,
      type: 'gauge',
      labels: ['state'],
      read: () => jobStates(app),
    },
    {
      name: 'tenantry_provider_calls_total',
      help: 'Pieces of jobs that were tried at a provider, or at the simulator, by the type of the provider.',
      type: 'counter',
      labels: ['provider'],
      read: () => counted(metrics.providerCalls.list()),
    },
    {
      name: 'tenantry_provider_failures_total',
      help: 'Those that the provider refused or did not answer, by the class of the error.',
      type: 'counter',
      labels: ['provider', 'error'],
      read: () => counted(metrics.providerFailures.list()),
    },
    {
      name: 'tenantry_logins_refused_total',
      help: 'Refused logins: wrong credentials, locked usernames or networks, messages of single sign-on.',
      type: 'counter',
      labels: ['reason'],
      read: () => counted(metrics.refusedLogins.list()),
    },
    {
      name: 'tenantry_event_streams',
      help: 'Streams of events that are open.',
      type: 'gauge',
      read: () => [[app.eventStreams.size]],
    },
    {
      name: 'tenantry_timer_age_seconds',
      help: 'How long ago the timer last did what is due; it does so every second.',
      type: 'gauge',
      read: () => [[quiet() / 1000]],
    },
  ];
}

/** What metrics call a route. */
const routeLabel = (route: string): string => route || 'none';
