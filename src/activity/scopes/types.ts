import { providerTypes, resourceKinds } from '../../cloud/catalogue/registry.ts';

/** Types of service. */
export const serviceTypes = (): readonly string[] => providerTypes.map(({ name }) => name);

/** Types of resource, parts left out: `<Type>.<Kind>`. */
export const resourceTypes = (): readonly string[] =>
  resourceKinds.filter(({ kind }) => !kind.isPart).map(({ name }) => name);

/** Names in queries are compared without case and underscores (events.md 1.3). */
export const plainName = (name: string): string => name.toLowerCase().replaceAll('_', '');
