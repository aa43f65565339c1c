import type { App, Context } from '../../kernel/access/app.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { Inventory } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import type { JobHandler, Store } from '../jobs/job-handler.ts';
import { type Job, removeJob } from '../jobs/jobs.ts';
import { goneSince, mustRepeat, requestSync } from '../jobs/sync-jobs.ts';
import { storing } from './storing.ts';
import { failSync, finishSync, startSync } from './sync.ts';

/** A synchronisation of settings with their provider. */
export const syncHandler: JobHandler = {
  start: (context, job) => startSync(context, job.settings_id),
  call: async (app, job, driver) => {
    const { catalogue, db } = app;
    const rows = db.all<Pick<ResourceRow, 'id' | 'revision' | 'kind' | 'backend_id'>>(
      sql`SELECT id, revision, kind, backend_id FROM resource WHERE settings_id = ${job.settings_id}`,
    );
    const revisions = new Map(rows.map(({ id, revision }) => [id, revision]));
    const known = rows
      .filter(({ backend_id: id }) => id !== '')
      .map(({ backend_id, kind }) => ({ kind: catalogue.kind(kind).kind.name, backend_id }));
    await driver.ping();
    const inventory = await driver.sync(known);
    return storedInventory(app, job, inventory, revisions);
  },
  fail: (context, job, text) => {
    failSync(context, job.settings_id, text);
    end(context, job);
  },
};

/** What the settings hold of a provider, and at last that they do. */
function* storedInventory(
  app: App,
  job: Job,
  inventory: Inventory,
  revisions: ReadonlyMap<number, number>,
): Generator<Store> {
  yield* storing(app, job.settings_id, inventory, { revisions, gone: () => new Set(goneSince(app.db, job)) });
  yield (context) => {
    finishSync(context, job.settings_id);
    end(context, job);
  };
}

/** Removes the job; where the settings have changed since it began, another one follows. */
function end(context: Context, job: Job): void {
  const { db } = context.app;
  const isRepeated = mustRepeat(db, job);
  removeJob(db, job.id);
  if (isRepeated) requestSync(context, job.settings_id);
}
