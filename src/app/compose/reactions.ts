import { deactivateServiceAccountsIn } from '../../accounts/service-accounts/service-accounts.ts';
import { evaluateQuota, raiseNewCustomerAlerts } from '../../activity/alerts/rules.ts';
import { auditEvent } from '../../activity/audit/events.ts';
import { queueDeliveries, queueNotification } from '../../activity/hooks/queue.ts';
import { reportUsage } from '../../activity/quotas/nearly-used.ts';
import { removeDeletedKey, removeInaccessibleKeys } from '../../cloud/people/uploaded-keys.ts';
import {
  connectCustomer,
  disconnectCustomer,
  linkProject,
  removeLinksOf,
  resourcesReason,
} from '../../cloud/services/service-lifecycle.ts';
import type { Guards, Reactions } from '../../kernel/app.ts';
import { conflict } from '../../kernel/http/error.ts';

/** The effects of each change. They run in its transaction. */
export const reactions: Reactions = {
  customerCreated: (context, customer) => {
    raiseNewCustomerAlerts(context, customer);
    connectCustomer(context, customer);
  },
  customerDeleted: (context, customer) => {
    deactivateServiceAccountsIn(context, 'customer', customer);
    disconnectCustomer(context, customer);
  },
  projectCreated: linkProject,
  projectMoving: removeLinksOf,
  projectMoved: linkProject,
  projectDeleted: (context, project) => {
    deactivateServiceAccountsIn(context, 'project', project);
    removeLinksOf(context, project);
  },
  roleEnded: removeInaccessibleKeys,
  keyDeleted: removeDeletedKey,
  quotaChanged: (context, before, after) => {
    evaluateQuota(context, before, after);
    reportUsage(context, before, after);
  },
  notified: queueNotification,
  eventRecorded: (context, event) => {
    auditEvent(context, event);
    queueDeliveries(context, event);
    const { db, eventStreams } = context.app;
    if (eventStreams.size > 0) db.onceStored(() => eventStreams.wake());
  },
};

/** The conditions that prevent changes. */
export const guards: Guards = {
  projectHasNoResources: (context, project, what) => {
    const reason = resourcesReason(context, 'project_id', project, what);
    if (reason !== undefined) throw conflict(reason);
  },
};
