import { adviseNewCustomer, judgeQuota } from '../activity/alerts/conditions.ts';
import { queueDeliveries } from '../activity/hooks/queue.ts';
import { forgetDeletedKey, forgetUnreachedKeys } from '../cloud/keys/uploaded-keys.ts';
import {
  connectCustomer,
  disconnectCustomer,
  linkProject,
  refuseWithResources,
  removeLinksOf,
} from '../cloud/services/linking.ts';
import type { Guards, Reactions } from '../kernel/access/reactions.ts';

/** What follows from what, in the transaction of the change. */
export const reactions: Reactions = {
  customerCreated: (context, customer) => {
    adviseNewCustomer(context, customer);
    connectCustomer(context, customer);
  },
  customerDeleted: disconnectCustomer,
  projectCreated: linkProject,
  projectMoving: removeLinksOf,
  projectMoved: linkProject,
  projectDeleted: removeLinksOf,
  roleEnded: forgetUnreachedKeys,
  keyDeleted: forgetDeletedKey,
  quotaChanged: judgeQuota,
  eventRecorded: queueDeliveries,
};

/** What forbids what. */
export const guards: Guards = {
  projectHasNoResources: (context, project, what) => refuseWithResources(context, 'project_id', project, what),
};
