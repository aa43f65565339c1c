import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { sinkLags } from '../../activity/audit/sinks/lag.ts';
import { type App, version } from '../../kernel/app.ts';
import { second } from '../../kernel/clock.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import type { CacheCounts } from '../../kernel/metrics/metrics.ts';
import type { OutboxName } from '../../kernel/outbox/delivery-worker.ts';
import { namesOf } from '../../kernel/present.ts';
import { lastBackups } from '../backup/ages.ts';
import { databaseFile } from '../data/data-folder.ts';
import type { Reading, Sample } from './samples.ts';

/** Maximum number of rows to count, so that metrics do not block requests. */
const maxCount = 100_000;

/** The table and the index of pending messages of each outbox. */
export const outboxes: Readonly<Record<OutboxName, { readonly table: string; readonly index: string }>> = {
  hooks: { table: 'delivery', index: 'delivery_pending' },
  invitations: { table: 'invitation_mail', index: 'invitation_mail_due' },
  notices: { table: 'user_notice', index: 'user_notice_due' },
  notifications: { table: 'notification_mail', index: 'notification_mail_due' },
  passwords: { table: 'password_reset', index: 'password_reset_due' },
};

export const outboxNames = namesOf(outboxes);

/** Returns the number of pending messages in an outbox, and when the oldest was queued (microseconds). */
export function outboxState({ db }: App, name: OutboxName): { depth: number; oldest: number | null } {
  const { index, table } = outboxes[name];
  return db.one(sql`
    SELECT depth, (SELECT created FROM ${raw(table)} WHERE id = first) AS oldest FROM (
      SELECT count(*) AS depth, min(id) AS first FROM (
        SELECT id FROM ${raw(`${table} INDEXED BY ${index}`)} WHERE status = 'pending' LIMIT ${maxCount}))`);
}

function jobStates({ clock, db }: App): Sample[] {
  const now = clock.now();
  const { due, running, waiting } = db.one<{ due: number; running: number; waiting: number }>(sql`
    SELECT
      ifnull(sum(lease > ${now}), 0) AS running,
      ifnull(sum(due <= ${now} AND ifnull(lease, 0) <= ${now}), 0) AS due,
      ifnull(sum(due > ${now} AND ifnull(lease, 0) <= ${now}), 0) AS waiting
    FROM (SELECT due, lease FROM job LIMIT ${maxCount})`);
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

/** File sizes and free space in the data folder, in bytes. */
const storage = (folder: string): readonly Reading[] => [
  {
    name: 'tenantry_database_bytes',
    help: 'Size of the database file.',
    type: 'gauge',
    read: async () => [[await sizeOf(join(folder, databaseFile))]],
  },
  {
    name: 'tenantry_write_ahead_log_bytes',
    help: 'Size of the write-ahead log.',
    type: 'gauge',
    read: async () => [[await sizeOf(join(folder, `${databaseFile}-wal`))]],
  },
  {
    name: 'tenantry_disk_free_bytes',
    help: 'Free space on the disk of the data folder.',
    type: 'gauge',
    read: async () => {
      const { bavail, bsize } = await statfs(folder);
      return [[bavail * bsize]];
    },
  },
];

/** Times of the newest complete and the newest verified scheduled backup, in seconds since 1970. */
const backupAges = (app: App): readonly Reading[] => {
  const seconds = (at: number | null): Sample[] => (at === null ? [] : [[at / second]]);
  return [
    {
      name: 'tenantry_backup_last_success_timestamp_seconds',
      help: 'Time of the newest complete backup of the schedule.',
      type: 'gauge',
      read: () => seconds(lastBackups(app).complete),
    },
    {
      name: 'tenantry_backup_last_verified_timestamp_seconds',
      help: 'Time of the newest backup that was verified.',
      type: 'gauge',
      read: () => seconds(lastBackups(app).verified),
    },
  ];
};

/** Seconds for which this server may write. Has no sample if the server needs no lease. */
const leaseReading = ({ lease }: App): Reading => ({
  name: 'tenantry_lease_seconds_left',
  help: 'Seconds for which this server holds the lease of lease_url; 0 if it does not.',
  type: 'gauge',
  read: () => (lease === undefined ? [] : [[lease.secondsLeft()]]),
});

/** Delay of the audit sinks. Has no samples without sinks. */
const sinkReadings = (app: App): readonly Reading[] => [
  {
    name: 'tenantry_audit_sink_lag_records',
    help: 'Audit records that a sink has not received.',
    type: 'gauge',
    labels: ['sink'],
    read: () => sinkLags(app).map(({ sink, waiting }) => [waiting, sink]),
  },
  {
    name: 'tenantry_audit_sink_lag_seconds',
    help: 'Age of the oldest audit record that a sink has not received.',
    type: 'gauge',
    labels: ['sink'],
    read: () =>
      sinkLags(app).map(({ oldest, sink }) => [
        oldest === null ? 0 : Math.max(0, app.clock.now() - oldest) / second,
        sink,
      ]),
  },
];

/** Requests, and lookups in the caches that serve them. */
/** The values of the label `cache`, which dashboards use. */
const cacheLabels = { responses: 'answers', representations: 'texts', tokens: 'tokens' } as const;

const requestReadings = ({ metrics }: App): readonly Reading[] => {
  const perCache = (name: string, { hits, misses }: CacheCounts): Sample[] => [
    [hits, name, 'hit'],
    [misses, name, 'miss'],
  ];
  return [
    {
      name: 'tenantry_http_requests_total',
      help: 'Requests with a response. The route is the path pattern; "none" is an unknown path.',
      type: 'counter',
      labels: ['route', 'method', 'status'],
      read: () =>
        metrics.requests
          .responses()
          .map(({ count, method, route, status }) => [count, routeLabel(route), method, status]),
    },
    {
      name: 'tenantry_http_request_seconds_total',
      help: 'Total time of requests, from the headers to the response, by route.',
      type: 'counter',
      labels: ['route'],
      read: () => metrics.requests.seconds().map(({ route, seconds }) => [seconds, routeLabel(route)]),
    },
    {
      name: 'tenantry_cache_requests_total',
      help: 'Lookups in caches of responses, representations of objects, and tokens.',
      type: 'counter',
      labels: ['cache', 'result'],
      read: () => namesOf(metrics.caches).flatMap((name) => perCache(cacheLabels[name], metrics.caches[name])),
    },
  ];
};

/** Messages that wait in the outboxes, and attempts to send them. */
const outboxReadings = (app: App): readonly Reading[] => [
  {
    name: 'tenantry_outbox_depth',
    help: `Pending messages, including retries; counted up to ${maxCount}.`,
    type: 'gauge',
    labels: ['outbox'],
    read: () => outboxNames.map((name) => [outboxState(app, name).depth, name]),
  },
  {
    name: 'tenantry_outbox_oldest_age_seconds',
    help: 'Age of the oldest pending message.',
    type: 'gauge',
    labels: ['outbox'],
    read: () =>
      outboxNames.map((name) => {
        const { oldest } = outboxState(app, name);
        return [oldest === null ? 0 : Math.max(0, app.clock.now() - oldest) / second, name];
      }),
  },
  {
    name: 'tenantry_deliveries_total',
    help: 'Attempts to send messages, by result.',
    type: 'counter',
    labels: ['outbox', 'result'],
    read: () => labelled(app.metrics.deliveries),
  },
  {
    name: 'tenantry_mails_total',
    help: 'Mails sent to the mail server; skipped without one.',
    type: 'counter',
    labels: ['result'],
    read: () => labelled(app.metrics.mails),
  },
];

/** Jobs at providers and their calls. */
const providerReadings = (app: App): readonly Reading[] => [
  {
    name: 'tenantry_jobs',
    help: `Jobs at providers: running, due, and scheduled; counted up to ${maxCount}.`,
    type: 'gauge',
    labels: ['state'],
    read: () => jobStates(app),
  },
  {
    name: 'tenantry_provider_calls_total',
    help: 'Calls of jobs to providers or the simulator, by type of provider.',
    type: 'counter',
    labels: ['provider'],
    read: () => labelled(app.metrics.providerCalls),
  },
  {
    name: 'tenantry_provider_failures_total',
    help: 'Failed calls of jobs to providers, by class of error.',
    type: 'counter',
    labels: ['provider', 'error'],
    read: () => labelled(app.metrics.providerFailures),
  },
];

/** Returns all counters and gauges of a deployment. `timerAgeMs` returns the milliseconds since the timer last ran. */
export function readings(app: App, folder: string | undefined, timerAgeMs: () => number): readonly Reading[] {
  const { db, metrics } = app;
  const sqlite = String(db.value(sql`SELECT sqlite_version()`));
  return [
    {
      name: 'tenantry_build_info',
      help: 'Versions of the program, Node.js and SQLite; always 1.',
      type: 'gauge',
      labels: ['version', 'node', 'sqlite'],
      read: () => [[1, version, process.versions.node, sqlite]],
    },
    ...requestReadings(app),
    {
      name: 'tenantry_commit_failures_total',
      help: 'Failed commits by reason: full disk, broken disk, or another process that writes.',
      type: 'counter',
      labels: ['reason'],
      read: () => labelled(db.commits.failures),
    },
    ...(folder === undefined ? [] : [...storage(folder), ...backupAges(app)]),
    leaseReading(app),
    ...sinkReadings(app),
    ...outboxReadings(app),
    ...providerReadings(app),
    {
      name: 'tenantry_logins_refused_total',
      help: 'Rejected logins: wrong credentials, locked usernames or networks, messages of single sign-on.',
      type: 'counter',
      labels: ['reason'],
      read: () => labelled(metrics.rejectedLogins),
    },
    {
      name: 'tenantry_event_streams',
      help: 'Open streams of events.',
      type: 'gauge',
      read: () => [[app.eventStreams.size]],
    },
    {
      name: 'tenantry_timer_age_seconds',
      help: 'Time since the timer, which runs every second, last ran.',
      type: 'gauge',
      read: () => [[timerAgeMs() / 1000]],
    },
  ];
}

/** Returns counts with their labels as samples. */
const labelled = (counts: Pick<App['metrics']['mails'], 'list'>): Sample[] =>
  counts.list().map(({ count, labels }) => [count, ...labels]);

/** Returns the label of a route. */
const routeLabel = (route: string): string => route || 'none';
