import { apiKeys } from '../../accounts/api-keys/api-keys.ts';
import { apiKeyEndpoints } from '../../accounts/api-keys/endpoints.ts';
import { certifications } from '../../accounts/certifications/certifications.ts';
import { customers } from '../../accounts/customers/customers.ts';
import { customerImage } from '../../accounts/customers/image.ts';
import { acceptEndpoint } from '../../accounts/invitations/accept.ts';
import { cancel, send } from '../../accounts/invitations/actions.ts';
import { check } from '../../accounts/invitations/check.ts';
import { invitations } from '../../accounts/invitations/invitations.ts';
import { keys } from '../../accounts/keys/keys.ts';
import { customerUsers, projectUsers } from '../../accounts/permissions/members.ts';
import {
  customerPermissions,
  customerPermissionsLog,
  projectPermissions,
  projectPermissionsLog,
} from '../../accounts/permissions/permissions.ts';
import { userStats } from '../../accounts/permissions/user-stats.ts';
import { projectsWith, updateCertifications } from '../../accounts/projects/projects.ts';
import { serviceAccounts } from '../../accounts/service-accounts/service-accounts.ts';
import { confirmationOptions, confirmSession } from '../../accounts/session/confirmation.ts';
import { loginEndpoints } from '../../accounts/session/endpoints.ts';
import { beginTotp, confirmTotp, newRecoveryCodes } from '../../accounts/session/factors/enrolment.ts';
import { addPasskey, passkeyOptions } from '../../accounts/session/factors/passkey-enrolment.ts';
import { resetSecondFactors } from '../../accounts/session/factors/reset.ts';
import { secondFactors } from '../../accounts/session/factors/second-factors.ts';
import { impersonate } from '../../accounts/session/impersonation.ts';
import { endOtherSessions, sessions } from '../../accounts/session/sessions.ts';
import { userActions } from '../../accounts/users/actions.ts';
import { users } from '../../accounts/users/users.ts';
import { alertEndpoints } from '../../activity/alerts/endpoints.ts';
import { eventEndpoints } from '../../activity/events/events.ts';
import { eventStream } from '../../activity/events/stream-endpoint.ts';
import { hookPages } from '../../activity/hooks/confirmation.ts';
import { deliveryEndpoints } from '../../activity/hooks/deliveries.ts';
import { hookEndpoints } from '../../activity/hooks/hooks.ts';
import { emailHooks } from '../../activity/hooks/hooks-email.ts';
import { pushHooks } from '../../activity/hooks/hooks-push.ts';
import { rotateSecret, webHooks } from '../../activity/hooks/hooks-web.ts';
import { recover } from '../../activity/hooks/recovery.ts';
import { notificationUnsubscribePage } from '../../activity/notifications/mail-pages.ts';
import { notificationEndpoints, notifications } from '../../activity/notifications/notifications.ts';
import { preferencesEndpoint } from '../../activity/notifications/preferences.ts';
import { quotaHistory } from '../../activity/quotas/history.ts';
import { quotas } from '../../activity/quotas/quotas.ts';
import { creationTime } from '../../activity/stats/creation-time.ts';
import { quotaStatistics } from '../../activity/stats/quota.ts';
import { quotaTimeline } from '../../activity/stats/timeline.ts';
import type { Catalogue } from '../../cloud/catalogue/catalogue.ts';
import { properties } from '../../cloud/properties/properties.ts';
import { monitoringEndpoint, slaEndpoint } from '../../cloud/resources/measurements.ts';
import { monitoringHistory } from '../../cloud/resources/monitoring-history.ts';
import { kindsEndpoints } from '../../cloud/resources/resource-endpoints.ts';
import { resourceEndpoints } from '../../cloud/resources/summary.ts';
import { connectionTests } from '../../cloud/services/connection-test.ts';
import { links } from '../../cloud/services/links.ts';
import { serviceMetadata } from '../../cloud/services/metadata.ts';
import { projectServices } from '../../cloud/services/paths.ts';
import { serviceEndpoints } from '../../cloud/services/services.ts';
import { settings } from '../../cloud/services/settings.ts';
import { settingsActions } from '../../cloud/services/settings-actions.ts';
import { settingsUsage } from '../../cloud/services/usage.ts';
import { serviceActionEndpoints } from '../../cloud/sync/service-actions.ts';
import type { Collection, Row } from '../../kernel/collection/collection.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import type { Fields } from '../../kernel/collection/field.ts';
import type { Config } from '../../kernel/config/config.ts';
import { endpointsOf, late, type Part, Router } from '../../kernel/http/router.ts';
import { memoised } from '../../kernel/memoised.ts';
import { consoleFiles } from '../console/console.ts';
import { counterEndpoints } from '../counters/counters.ts';
import { docs } from '../docs/docs.ts';
import { manual } from '../docs/manual.ts';
import { configuration, root, versionEndpoint, welcome } from '../docs/root.ts';
import { scopeList } from '../docs/scope-list.ts';
import { emptyCollections } from '../empty-collections.ts';
import { auditExport, auditKeys } from '../operation/audit-export.ts';
import { auditTrail } from '../operation/audit-trail.ts';
import { backupEndpoints } from '../operation/backups.ts';
import { doctorEndpoint } from '../operation/examination.ts';
import { jobs, runJob } from '../operation/jobs.ts';
import { loginCheckEndpoint } from '../operation/login-check.ts';
import { outbox, retryMessage } from '../operation/outbox.ts';
import { overview } from '../operation/overview.ts';
import { settingsInForce } from '../operation/settings-in-force.ts';
import { simulatorEndpoints } from '../operation/simulator.ts';
import { scopesOf } from './scopes.ts';

const projects = projectsWith(projectServices);

/** Every collection, under /api/<path>/. */
const collections = (catalogue: Catalogue): readonly Pick<Collection<Fields, Row>, 'endpoints' | 'path'>[] => [
  apiKeys,
  certifications,
  settings(catalogue),
  ...catalogue.types.map(links),
  ...properties(catalogue),
  customers,
  customerPermissions,
  customerPermissionsLog,
  emailHooks,
  invitations,
  jobs,
  keys,
  outbox,
  projects,
  projectPermissions,
  projectPermissionsLog,
  pushHooks,
  quotas(scopesOf(catalogue)),
  secondFactors,
  serviceAccounts,
  sessions,
  users,
  webHooks,
  notifications,
];

/** Every path of the API for a catalogue of provider types. Most endpoints are created by their first request. */
export const parts = memoised((catalogue: Catalogue): readonly Part<Endpoint>[] => [
  ...loginEndpoints,
  welcome,
  ...consoleFiles,
  root(() => parts(catalogue)),
  versionEndpoint,
  configuration,
  docs(() => api(catalogue), catalogue),
  ...manual,
  ...collections(catalogue).map((collection) => late(`/api/${collection.path}/`, () => collection.endpoints())),
  customerUsers,
  customerImage,
  projectUsers,
  updateCertifications(projects).endpoint,
  quotaHistory(scopesOf(catalogue)),
  creationTime,
  quotaStatistics,
  quotaTimeline,
  ...alertEndpoints(scopesOf(catalogue)),
  ...eventEndpoints,
  eventStream,
  ...hookEndpoints,
  rotateSecret.endpoint,
  recover.endpoint,
  ...deliveryEndpoints,
  ...hookPages,
  ...notificationEndpoints,
  preferencesEndpoint,
  notificationUnsubscribePage,
  serviceMetadata,
  ...connectionTests(catalogue),
  ...serviceEndpoints(catalogue),
  ...serviceActionEndpoints(catalogue),
  ...settingsActions(catalogue),
  settingsUsage(catalogue),
  late('/api/resources/', () => resourceEndpoints(catalogue)),
  ...kindsEndpoints(catalogue),
  ...catalogue.types.flatMap(({ endpoints: own = [] }) => own),
  slaEndpoint,
  monitoringEndpoint,
  monitoringHistory,
  acceptEndpoint,
  cancel.endpoint,
  check,
  send.endpoint,
  ...userActions,
  userStats,
  resetSecondFactors.endpoint,
  impersonate.endpoint,
  confirmSession,
  confirmationOptions,
  ...apiKeyEndpoints,
  scopeList(() => api(catalogue), catalogue),
  beginTotp,
  confirmTotp,
  newRecoveryCodes,
  passkeyOptions,
  addPasskey,
  endOtherSessions,
  ...counterEndpoints,
  auditTrail,
  auditExport,
  auditKeys,
  overview,
  doctorEndpoint,
  loginCheckEndpoint,
  settingsInForce,
  ...backupEndpoints,
  ...simulatorEndpoints,
  retryMessage,
  runJob,
]);

/** Every endpoint of the API. */
export const api = memoised((catalogue: Catalogue): readonly Endpoint[] => parts(catalogue).flatMap(endpointsOf));

const routers = memoised((_: Catalogue) => new Map<string, Router<Endpoint>>());

/** Returns the router of a deployment. Deployments in this process with the same paths share it. Throws ConfigError. */
export function routesOf(catalogue: Catalogue, config: Config): Router<Endpoint> {
  const cached = routers(catalogue);
  const key = config.empty_collections.join();
  const router = cached.get(key) ?? new Router([...parts(catalogue), ...emptyCollections(config, parts(catalogue))]);
  cached.set(key, router);
  return router;
}
