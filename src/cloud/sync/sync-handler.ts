import type { Context } from '../../kernel/access/context.ts';
import type { App } from '../../kernel/app.ts';
import { sql } from '../../kernel/db/sql.ts';
import { nextTurn } from '../../kernel/next-turn.ts';
import { present } from '../../kernel/present.ts';
import type { BackendReference, Inventory } from '../catalogue/driver.ts';
import type { ResourceRow } from '../catalogue/resource-row.ts';
import type { JobHandler, StoreStep } from '../operations/job-handler.ts';
import { type Job, removeJob } from '../operations/jobs.ts';
import { deletedSince, mustRepeat, requestSync } from '../operations/sync-jobs.ts';
import { isAfter, type Position, startOfIndex, storeInSteps } from './store-inventory.ts';
import { failSync, finishSync, startSync } from './sync.ts';
import { digestOf, type KnownResources } from './unchanged-syncs.ts';

/** Synchronises settings with their provider. */
export const syncHandler: JobHandler = {
  start: (context, job) => startSync(context, job.settings_id),
  call: async (app, job, driver) => {
    const { known, revisions } = await resourcesOf(app, job.settings_id);
    await driver.ping();
    const inventory = await driver.sync(known);
    return storeInventory(app, job, inventory, revisions);
  },
  fail: (context, job, text) => {
    failSync(context, job.settings_id, text);
    end(context, job);
  },
};

/** Resources that one query reads. Other requests are served between the queries. */
const maxReadRows = 500;
/** Bytes that a resource takes in the cache. */
const bytesPerResource = 150;

type KnownRow = Position & Pick<ResourceRow, 'revision'>;

/** Reads the resources of an account. Only those that one query reads are cached: more may change in between. */
async function resourcesOf({ catalogue, db, unchangedSyncs }: App, settings: number): Promise<KnownResources> {
  const rowsAfter = (position: Position): KnownRow[] =>
    db.all(sql`SELECT id, revision, kind, backend_id FROM resource
      WHERE settings_id = ${settings} AND ${isAfter(position)} ORDER BY kind, backend_id, id LIMIT ${maxReadRows}`);
  const key = String(settings);
  const cached = unchangedSyncs.resources.get(key);
  if (cached) return cached;
  const revisions = new Map<number, number>();
  const known: BackendReference[] = [];
  const { reads, result } = db.versions.observe(() => rowsAfter(startOfIndex));
  for (let rows = result; ; rows = rowsAfter(present(rows.at(-1)))) {
    for (const { backend_id, id, kind, revision } of rows) {
      revisions.set(id, revision);
      if (backend_id !== '') known.push({ kind: catalogue.kind(kind).kind.name, backend_id });
    }
    if (rows.length < maxReadRows) break;
    await nextTurn();
  }
  const resources = { revisions, known };
  if (result.length < maxReadRows)
    unchangedSyncs.resources.set(key, resources, reads, bytesPerResource * revisions.size);
  return resources;
}

/** Yields the steps that store an inventory. The last one finishes the synchronisation. */
function* storeInventory(
  app: App,
  job: Job,
  inventory: Inventory,
  revisions: ReadonlyMap<number, number>,
): Generator<StoreStep> {
  const { settings_id: settings } = job;
  // Deletions during the call are checked each time, so they do not count as a basis.
  const gone = (): ReadonlySet<string> => app.db.versions.unobserved(() => new Set(deletedSince(app.db, job)));
  const digest = digestOf(inventory);
  if (gone().size > 0) yield* storeInSteps(app, settings, inventory, { revisions, gone });
  else if (!app.unchangedSyncs.has(settings, digest))
    yield* app.unchangedSyncs.observe(settings, digest, storeInSteps(app, settings, inventory, { revisions, gone }));
  yield (context) => {
    finishSync(context, job.settings_id);
    end(context, job);
  };
}

/** Removes the job. Requests another synchronisation if the settings have changed since it began. */
function end(context: Context, job: Job): void {
  const { db } = context.app;
  const isRepeated = mustRepeat(db, job);
  removeJob(db, job.id);
  if (isRepeated) requestSync(context, job.settings_id);
}
