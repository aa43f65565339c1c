import { amazon } from '../providers/amazon/amazon.ts';
import { digitalOcean } from '../providers/digitalocean/digitalocean.ts';
import { gitlab } from '../providers/gitlab/gitlab.ts';
import { jira } from '../providers/jira/jira.ts';
import { openStack } from '../providers/openstack/openstack.ts';
import { oracle } from '../providers/oracle/oracle.ts';
import type { EntityKind, PropertyKind, ProviderType, ResourceKind } from './type.ts';

/** Every type of provider; a further one is a folder and a line here. */
export const providerTypes: readonly ProviderType[] = [amazon, digitalOcean, gitlab, jira, openStack, oracle];

const byName = new Map(providerTypes.map((type) => [type.name, type]));

/** A type by its name. Throws for a name that no row should hold. */
export function providerType(name: string): ProviderType {
  const type = byName.get(name);
  if (!type) throw new Error(`There is no provider type "${name}"`);
  return type;
}

/** A kind of resource with the type it belongs to and its full name. */
export interface TypedKind {
  readonly type: ProviderType;
  readonly kind: ResourceKind;
  /** `DigitalOcean.Droplet` */
  readonly name: string;
}

/** Every kind of resource and of part. */
export const resourceKinds: readonly TypedKind[] = providerTypes.flatMap((type) =>
  type.kinds.map((kind) => ({ type, kind, name: `${type.name}.${kind.name}` })),
);

const kindByName = new Map(resourceKinds.map((typed) => [typed.name, typed]));

/** A kind by its full name. Throws for a name that no row should hold. */
export function resourceKind(name: string): TypedKind {
  const kind = kindByName.get(name);
  if (!kind) throw new Error(`There is no resource kind "${name}"`);
  return kind;
}

/** Every kind of property with its full name. */
export const propertyKinds: readonly {
  readonly type: ProviderType;
  readonly kind: PropertyKind;
  readonly name: string;
}[] = providerTypes.flatMap((type) =>
  type.properties.map((kind) => ({ type, kind, name: `${type.name}.${kind.name}` })),
);

const entityKinds = new Map<string, EntityKind>(
  providerTypes.flatMap((type) => (type.entities ?? []).map((kind) => [`${type.name}.${kind.name}`, kind])),
);

/** A kind of object of a type's own, by its full name. Throws for a name that no row should hold. */
export function entityKind(name: string): EntityKind {
  const kind = entityKinds.get(name);
  if (!kind) throw new Error(`There is no entity kind "${name}"`);
  return kind;
}

/** The full name of such a kind. */
export const entityName = (kind: EntityKind): string =>
  [...entityKinds].find(([, known]) => known === kind)?.[0] as string;
