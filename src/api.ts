import { alertEndpoints } from './alerts/alerts.ts';
import type { Collection, Row } from './collection/collection.ts';
import type { Endpoint } from './collection/endpoint.ts';
import type { Fields } from './collection/field.ts';
import { counterEndpoints } from './counters/counters.ts';
import { customers } from './customers/customers.ts';
import { customerImage } from './customers/image.ts';
import { docs } from './docs/docs.ts';
import { configuration, root, versionEndpoint } from './docs/root.ts';
import { eventEndpoints } from './events/events.ts';
import { deliveryEndpoints } from './hooks/deliveries.ts';
import { hooks } from './hooks/hooks.ts';
import { emailHooks } from './hooks/hooks-email.ts';
import { pushHooks } from './hooks/hooks-push.ts';
import { rotateSecret, webHooks } from './hooks/hooks-web.ts';
import { accept } from './invitations/accept.ts';
import { cancel, send } from './invitations/actions.ts';
import { check } from './invitations/check.ts';
import { invitations } from './invitations/invitations.ts';
import { keys } from './keys/keys.ts';
import { customerUsers, projectUsers } from './permissions/members.ts';
import {
  customerPermissions,
  customerPermissionsLog,
  projectPermissions,
  projectPermissionsLog,
} from './permissions/permissions.ts';
import { projects, updateCertifications } from './projects/projects.ts';
import { providerTypes } from './providers/registry.ts';
import { quotaHistory } from './quotas/history.ts';
import { quotas } from './quotas/quotas.ts';
import { kindsEndpoints } from './resources/kinds.ts';
import { monitoringEndpoint, slaEndpoint } from './resources/measurements.ts';
import { resourceEndpoints } from './resources/summary.ts';
import { certifications } from './services/certifications.ts';
import { linksByType } from './services/links.ts';
import { serviceMetadata } from './services/metadata.ts';
import { properties } from './services/properties.ts';
import { serviceActionEndpoints } from './services/service-actions.ts';
import { serviceEndpoints } from './services/services.ts';
import { settings } from './services/settings.ts';
import { settingsActions } from './services/settings-actions.ts';
import { login, logout } from './session/login.ts';
import { samlEndpoints } from './session/saml/saml.ts';
import { creationTime } from './stats/creation-time.ts';
import { quotaStatistics } from './stats/quota.ts';
import { quotaTimeline } from './stats/timeline.ts';
import { userActions } from './users/actions.ts';
import { users } from './users/users.ts';

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
  updateCertifications,
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
