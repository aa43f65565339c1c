import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { sql } from '../../kernel/db/sql.ts';
import { nextTurn } from '../../kernel/next-turn.ts';
import type { BackendReference, Inventory } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import type { JobHandler, Store } from '../operations/job-handler.ts';
import { type Job, removeJob } from '../operations/jobs.ts';
import { goneSince, mustRepeat, requestSync } from '../operations/sync-jobs.ts';
import { beforeAll, isBehind, type Place, storing } from './storing.ts';
import { failSync, finishSync, startSync } from './sync.ts';
import { digestOf } from './unchanged-syncs.ts';

/** A synchronisation of settings with their provider. */
export const syncHandler: JobHandler = {
  start: (context, job) => startSync(context, job.settings_id),
  call: async (app, job, driver) => {
    const { known, revisions } = await resourcesOf(app, job.settings_id);
    await driver.ping();
    const inventory = await driver.sync(known);
    return storedInventory(app, job, inventory, revisions);
  },
  fail: (context, job, text) => {
    failSync(context, job.settings_id, text);
    end(context, job);
  },
};

/** So many resources are read in a turn of the event loop. */
const readAtOnce = 500;

/** The revisions of the resources of an account, by id; and those of them that its provider should know. */
async function resourcesOf(
  { catalogue, db }: App,
  settings: number,
): Promise<{ readonly revisions: ReadonlyMap<number, number>; readonly known: readonly BackendReference[] }> {
  const revisions = new Map<number, number>();
  const known: BackendReference[] = [];
  let place: Place | undefined = beforeAll;
  while (place) {
    const rows: (Place & Pick<ResourceRow, 'revision'>)[] =
      db.all(sql`SELECT id, revision, kind, backend_id FROM resource
      WHERE settings_id = ${settings} AND ${isBehind(place)} ORDER BY kind, backend_id, id LIMIT ${readAtOnce}`);
    for (const { backend_id, id, kind, revision } of rows) {
      revisions.set(id, revision);
      if (backend_id !== '') known.push({ kind: catalogue.kind(kind).kind.name, backend_id });
    }
    place = rows.length < readAtOnce ? undefined : rows.at(-1);
    if (place) await nextTurn();
  }
  return { revisions, known };
}

/** What the settings hold of a provider, and at last that they do. */
function* storedInventory(
  app: App,
  job: Job,
  inventory: Inventory,
  revisions: ReadonlyMap<number, number>,
): Generator<Store> {
  const { settings_id: settings } = job;
  // Deletions during the call are checked each time, so they do not count as a basis.
  const gone = (): ReadonlySet<string> => app.db.versions.unobserved(() => new Set(goneSince(app.db, job)));
  const digest = digestOf(inventory);
  if (gone().size > 0) yield* storing(app, settings, inventory, { revisions, gone });
  else if (!app.unchangedSyncs.has(settings, digest))
    yield* app.unchangedSyncs.observe(settings, digest, storing(app, settings, inventory, { revisions, gone }));
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
