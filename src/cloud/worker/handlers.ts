import { entityHandler } from '../entities/entities.ts';
import type { JobHandler } from '../jobs/job-handler.ts';
import type { Job } from '../jobs/jobs.ts';
import { forgetKeyHandler } from '../keys/forget-key.ts';
import { resourceHandler } from '../resources/operations.ts';
import { syncHandler } from '../sync/sync-handler.ts';

/** The handlers by what a job is about. */
const handlers = {
  settings: syncHandler,
  entity: entityHandler,
  resource: resourceHandler,
  key: forgetKeyHandler,
} satisfies Record<string, JobHandler>;

function subjectKind({ entity_kind: entity, operation, resource_id: resource }: Job): keyof typeof handlers {
  if (operation === 'sync') return 'settings';
  if (entity !== null) return 'entity';
  return resource === null ? 'key' : 'resource';
}

/** The handler of a job. */
export const handlerOf = (job: Job): JobHandler => handlers[subjectKind(job)];
