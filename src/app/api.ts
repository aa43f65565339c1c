import { certifications } from '../accounts/certifications/certifications.ts';
import { customers } from '../accounts/customers/customers.ts';
import { customerImage } from '../accounts/customers/image.ts';
import { accept } from '../accounts/invitations/accept.ts';
import { cancel, send } from '../accounts/invitations/actions.ts';
import { check } from '../accounts/invitations/check.ts';
import { invitations } from '../accounts/invitations/invitations.ts';
import { keys } from '../accounts/keys/keys.ts';
import { customerUsers, projectUsers } from '../accounts/permissions/members.ts';
import {
  customerPermissions,
  customerPermissionsLog,
  projectPermissions,
  projectPermissionsLog,
} from '../accounts/permissions/permissions.ts';
import { projectsWith, updateCertifications } from '../accounts/projects/projects.ts';
import { login, logout } from '../accounts/session/login.ts';
import { samlEndpoints } from '../accounts/session/saml/saml.ts';
import { userActions } from '../accounts/users/actions.ts';
import { users } from '../accounts/users/users.ts';
import { alertEndpoints } from '../activity/alerts/alerts.ts';
import { eventEndpoints } from '../activity/events/events.ts';
import { deliveryEndpoints } from '../activity/hooks/deliveries.ts';
import { hooks } from '../activity/hooks/hooks.ts';
import { emailHooks } from '../activity/hooks/hooks-email.ts';
import { pushHooks } from '../activity/hooks/hooks-push.ts';
import { rotateSecret, webHooks } from '../activity/hooks/hooks-web.ts';
import { quotaHistory } from '../activity/quotas/history.ts';
import { quotas } from '../activity/quotas/quotas.ts';
import { creationTime } from '../activity/stats/creation-time.ts';
import { quotaStatistics } from '../activity/stats/quota.ts';
import { quotaTimeline } from '../activity/stats/timeline.ts';
import { providerTypes } from '../cloud/catalogue/registry.ts';
import { properties } from '../cloud/properties/properties.ts';
import { kindsEndpoints } from '../cloud/resources/kinds.ts';
import { monitoringEndpoint, slaEndpoint } from '../cloud/resources/measurements.ts';
import { resourceEndpoints } from '../cloud/resources/summary.ts';
import { linksByType } from '../cloud/services/links.ts';
import { serviceMetadata } from '../cloud/services/metadata.ts';
import { projectServices } from '../cloud/services/paths.ts';
import { serviceActionEndpoints } from '../cloud/services/service-actions.ts';
import { serviceEndpoints } from '../cloud/services/services.ts';
import { settings } from '../cloud/services/settings.ts';
import { settingsActions } from '../cloud/services/settings-actions.ts';
import type { Collection, Row } from '../kernel/collection/collection.ts';
import type { Endpoint } from '../kernel/collection/endpoint.ts';
import type { Fields } from '../kernel/collection/field.ts';
import { counterEndpoints } from './counters/counters.ts';
import { docs } from './docs/docs.ts';
import { configuration, root, versionEndpoint } from './docs/root.ts';

const projects = projectsWith(projectServices);

/** Every collection, under /api/<path>/. */
const collections = [
  certifications,
  settings,
  ...linksByType.values(),
  ...properties,
  customers,
  customerPermissions,
  customerPermissionsLog,
  emailHooks,
  invitations,
  keys,
  projects,
  projectPermissions,
  projectPermissionsLog,
  pushHooks,
  quotas,
  users,
  webHooks,
] as unknown as readonly Collection<Fields, Row>[];

/** Every path of the API. */
export const endpoints: readonly Endpoint[] = [
  login,
  logout,
  ...samlEndpoints,
  root(() => endpoints),
  versionEndpoint,
  configuration,
  docs(() => endpoints),
  ...collections.flatMap((collection) => collection.endpoints()),
  customerUsers,
  customerImage,
  projectUsers,
  updateCertifications(projects),
  quotaHistory,
  creationTime,
  quotaStatistics,
  quotaTimeline,
  ...alertEndpoints,
  ...eventEndpoints,
  hooks,
  rotateSecret,
  ...deliveryEndpoints,
  serviceMetadata,
  ...serviceEndpoints,
  ...serviceActionEndpoints,
  ...settingsActions,
  ...resourceEndpoints,
  ...kindsEndpoints,
  ...providerTypes.flatMap(({ endpoints: own = [] }) => own),
  slaEndpoint,
  monitoringEndpoint,
  accept,
  cancel,
  check,
  send,
  ...userActions,
  ...counterEndpoints,
];
