import { sinkLags } from '../../activity/audit/sinks/lag.ts';
import { operators } from '../../kernel/access/right.ts';
import { version } from '../../kernel/app.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { objectShape } from '../../kernel/collection/field.ts';
import { sql } from '../../kernel/db/sql.ts';
import { json } from '../../kernel/http/reply.ts';
import { lastBackups } from '../backup/ages.ts';
import { externalProblems, metadataProblems } from '../doctor/external.ts';
import type { BackupFolder } from './backup-folder.ts';
import { type Examination, findingsShape } from './examination.ts';
import type { HostProcess } from './program.ts';
import { outboxNames, outboxState } from './readings.ts';

declare module '../../kernel/app.ts' {
  interface App {
    readonly deployment: Deployment;
  }
}

/** The running program, which staff monitor and control (core.md 14.6). */
interface Deployment extends HostProcess {
  /** Undefined if all data is in memory. */
  readonly backups: BackupFolder | undefined;
  readonly examination: Examination;
}

const text = { type: 'string' };
const number = { type: 'integer' };
const instant = { type: ['string', 'null'], format: 'date-time' };

const shape = {
  title: 'Operation',
  ...objectShape({
    version: text,
    now: { type: 'string', format: 'date-time' },
    is_in_memory: { type: 'boolean' },
    outboxes: { type: 'array', items: objectShape({ outbox: text, waiting: number, oldest: instant }) },
    audit_sinks: {
      type: 'array',
      items: objectShape({ sink: text, waiting: number, oldest: instant, error_message: text }),
    },
    jobs: objectShape({ running: number, waiting: number, failing: number }),
    event_streams: number,
    troubles: { type: 'array', items: text },
    examination: findingsShape,
    backup_count: number,
    last_backup: instant,
    last_verified_backup: instant,
  }),
};

/** GET /api/operation/ (core.md 14.6) */
export const overview: Endpoint = {
  path: '/api/operation/',
  name: 'Operation',
  description: 'The state of the service itself.',
  operations: {
    GET: {
      summary: 'Returns the state of the service itself: pending and failing work, problems and the last backup.',
      allowedFor: operators.allowedFor,
      output: { status: 200, shape },
      rejections: { 403: true },
      handle: (request) => {
        operators.require(request, undefined);
        const { app, db } = request;
        const { backups, examination } = app.deployment;
        const readyBackups = backups?.list().filter(({ state }) => state === 'ready') ?? [];
        const { complete, verified } = lastBackups(app);
        const made = [readyBackups[0]?.created, complete === null ? undefined : isoTime(complete)];
        return json({
          version,
          now: isoTime(request.now),
          is_in_memory: backups === undefined,
          outboxes: outboxNames.map((outbox) => {
            const { depth, oldest } = outboxState(app, outbox);
            return { outbox, waiting: depth, oldest: oldest === null ? null : isoTime(oldest) };
          }),
          audit_sinks: sinkLags(app).map(({ error, oldest, sink, waiting }) => ({
            sink,
            waiting,
            oldest: oldest === null ? null : isoTime(oldest),
            error_message: error,
          })),
          jobs: db.one(sql`
            SELECT count(*) FILTER (WHERE ifnull(lease, 0) > 0) AS running,
              count(*) FILTER (WHERE ifnull(lease, 0) = 0 AND error_message = '') AS waiting,
              count(*) FILTER (WHERE ifnull(lease, 0) = 0 AND error_message <> '') AS failing
            FROM job`),
          event_streams: app.eventStreams.size,
          troubles: [...externalProblems(app), ...metadataProblems(db)],
          examination: examination.findings,
          backup_count: readyBackups.length + db.count(sql`SELECT count(*) FROM backup`),
          last_backup:
            made
              .filter((one) => one !== undefined)
              .sort()
              .at(-1) ?? null,
          last_verified_backup: verified === null ? null : isoTime(verified),
        });
      },
    },
  },
};
