import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { hour } from '../../kernel/clock.ts';
import { any, type Sql, sql } from '../../kernel/db/sql.ts';
import type { Task } from '../../kernel/jobs/timer.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import { isCallable } from '../catalogue/simulation.ts';
import type { JobHandler } from '../operations/job-handler.ts';
import { type Job, postpone, queueJob, removeJob } from '../operations/jobs.ts';
import { takeUsages } from './backend-usages.ts';

/* Reads usages that providers report only in a separate call per resource, once an hour. */

const operation = 'measure';

/** Condition on `r` and `st`: a resource at a real provider, of a kind with usages. */
const isMeasured = ({ kinds }: Catalogue): Sql => sql`
  ${any(kinds.filter(({ kind }) => kind.ownQuotas?.usages).map(({ name }) => sql`r.kind = ${name}`))}
    AND r.state = 'OK' AND r.backend_id <> '' AND ${isCallable}`;

function queueMeasuring(context: Context): void {
  const { catalogue, db } = context.app;
  const due = db.values<number>(sql`
    SELECT DISTINCT r.settings_id FROM resource r JOIN service_settings st ON st.id = r.settings_id
    WHERE ${isMeasured(catalogue)}
      AND NOT EXISTS (SELECT 1 FROM job WHERE settings_id = r.settings_id AND operation = ${operation})`);
  for (const settings of due) queueJob(context, { settings, operation });
}

export const measuring: Task = {
  name: 'measure usages',
  every: hour,
  run: (context) => context.app.db.write(() => queueMeasuring(context)),
};

/** Returns the next resource to measure: the first one after the resource in the memo. */
const nextResource = ({ catalogue, db }: App, { memo, settings_id: settings }: Job): ResourceRow | undefined =>
  db.get<ResourceRow>(sql`
    SELECT r.* FROM resource r JOIN service_settings st ON st.id = r.settings_id
    WHERE r.settings_id = ${settings} AND r.id > ifnull(${memo} ->> '$.after', 0) AND ${isMeasured(catalogue)}
    ORDER BY r.id LIMIT 1`);

const continueLater = ({ app, now }: Context, job: Job, { id }: ResourceRow): void =>
  postpone(app, job, now, { memo: { after: id }, retries: 0 });

/** Measures the resources of settings sequentially. Logs failures, which leave the usage unchanged. */
export const measureHandler: JobHandler = {
  call: async (app, job, driver) => {
    const resource = nextResource(app, job);
    if (!resource || !driver.measure) return () => removeJob(app.db, job.id);
    const { kind } = app.catalogue.kind(resource.kind);
    const values = await driver.measure({ kind: kind.name, backend_id: resource.backend_id });
    return (context) => {
      takeUsages(context, resource.id, kind, values);
      continueLater(context, job, resource);
    };
  },
  fail: (context, job, text) => {
    const { app } = context;
    const resource = nextResource(app, job);
    if (!resource) return removeJob(app.db, job.id);
    const { kind, uuid } = resource;
    app.db.onceStored(() => app.log.warn({ resource: uuid, kind, reason: text }, 'usages could not be measured'));
    continueLater(context, job, resource);
  },
};
