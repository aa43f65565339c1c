import { present } from '../../kernel/present.ts';
import { entityHandler } from '../entities/entities.ts';
import type { JobHandler } from '../jobs/job-handler.ts';
import type { Job } from '../jobs/jobs.ts';
import { forgetKeyHandler } from '../keys/forget-key.ts';
import { membersHandler } from '../members/follow.ts';
import { measureHandler } from '../resources/measuring.ts';
import { resourceHandler } from '../resources/operations.ts';
import { syncHandler } from '../sync/sync-handler.ts';

/** The handlers of what is done with settings as a whole. */
const settingsHandlers: Readonly<Record<string, JobHandler>> = {
  sync: syncHandler,
  follow_members: membersHandler,
  measure: measureHandler,
  forget_key: forgetKeyHandler,
};

/** The handler of a job. */
export function handlerOf({ entity_kind: entity, operation, resource_id: resource }: Job): JobHandler {
  if (entity !== null) return entityHandler;
  return resource === null ? present(settingsHandlers[operation]) : resourceHandler;
}
