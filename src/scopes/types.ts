/** Types of service with the kinds of resource each provides, as resource types write them: `OpenStack.Instance`. */
export const resourceKinds = {
  Amazon: ['Instance', 'Volume'],
  DigitalOcean: ['Droplet'],
  GitLab: ['Group', 'Project'],
  JIRA: ['Project'],
  OpenStack: ['Instance', 'Snapshot', 'Tenant', 'Volume'],
  Oracle: ['Database'],
} as const;

export const serviceTypes = Object.keys(resourceKinds) as readonly (keyof typeof resourceKinds)[];

/** Every resource type: `<Type>.<Kind>`. */
export const resourceTypes: readonly string[] = Object.entries(resourceKinds).flatMap(([type, kinds]) => kinds.map((kind) => `${type}.${kind}`));

/** Names in queries are compared without case and underscores (events.md 1.3). */
export const plainName = (name: string): string => name.toLowerCase().replaceAll('_', '');
