interface AlertType {
  readonly groups: readonly string[];
  /** Text with `{key}` for values of the alert's context. */
  readonly message: string;
}

/** Automatic alerts (events.md 3.7). Their severity is always Warning. */
export const automaticAlerts = {
  threshold_exceeded: { groups: ['quota'], message: 'Threshold for {scope_name} is exceeded.' },
  customer_project_count_exceeded: {
    groups: ['projects'],
    message: 'Customer {customer_name} has exceeded quota {quota_name}.',
  },
  customer_service_count_exceeded: {
    groups: ['services'],
    message: 'Customer {customer_name} has exceeded quota {quota_name}.',
  },
  customer_resource_count_exceeded: {
    groups: ['resources'],
    message: 'Customer {customer_name} has exceeded quota {quota_name}.',
  },
  customer_has_zero_projects: { groups: ['projects'], message: 'Customer {customer_name} does not have any projects.' },
  customer_has_zero_services: {
    groups: ['services'],
    message: 'Customer {customer_name} has zero services configured.',
  },
  customer_has_zero_resources: {
    groups: ['resources'],
    message: 'Customer {customer_name} does not have any resources.',
  },
  service_unavailable: { groups: ['services'], message: 'Service account {service_name} is not responding' },
  service_has_unmanaged_resources: {
    groups: ['services', 'resources'],
    message: 'Service {service_name} has unmanaged resources',
  },
  resource_disappeared_from_backend: {
    groups: ['resources'],
    message: 'Resource {resource_name} has disappeared from the backend',
  },
} as const satisfies Record<string, AlertType>;

export type AutomaticAlert = keyof typeof automaticAlerts;

/** Types by group, both sorted: the response of alert_groups/ and the values of `exclude_features`. */
export const alertGroups: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  ['projects', 'quota', 'resources', 'services'].map((group) => [
    group,
    Object.entries(automaticAlerts)
      .filter(([, { groups }]) => groups.some((one) => one === group))
      .map(([type]) => type)
      .sort(),
  ]),
);

/** Returns the types of groups. Unknown groups have none. */
export const typesOfGroups = (groups: readonly string[]): string[] =>
  Object.entries(alertGroups).flatMap(([group, types]) => (groups.includes(group) ? types : []));
