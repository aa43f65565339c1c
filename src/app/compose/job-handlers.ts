import { entityHandler } from '../../cloud/entities/entities.ts';
import type { JobHandler } from '../../cloud/operations/job-handler.ts';
import type { Job } from '../../cloud/operations/jobs.ts';
import { membersHandler } from '../../cloud/people/follow.ts';
import { forgetKeyHandler } from '../../cloud/people/uploaded-keys.ts';
import { measureHandler } from '../../cloud/resources/measuring.ts';
import { resourceHandler } from '../../cloud/resources/operations.ts';
import { syncHandler } from '../../cloud/sync/sync-handler.ts';
import { present } from '../../kernel/present.ts';

/** The handlers of operations on whole provider settings. */
const settingsHandlers: Readonly<Record<string, JobHandler>> = {
  sync: syncHandler,
  follow_members: membersHandler,
  measure: measureHandler,
  forget_key: forgetKeyHandler,
};

/** Returns the handler that runs a job. */
export function jobHandlerOf({ entity_kind: entity, operation, resource_id: resource }: Job): JobHandler {
  if (entity !== null) return entityHandler;
  return resource === null ? present(settingsHandlers[operation]) : resourceHandler;
}
