import { type Json, linkOfPath } from '../../kernel/collection/representation.ts';
import type { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { present } from '../../kernel/present.ts';
import type { EntityKind } from './entity-kind.ts';
import type { PropertyKind, ProviderType, ResourceKind } from './type.ts';

// Registered types belong to the deployment, but the kernel must not know that clouds exist: this layer adds its
// own member.
declare module '../../kernel/app.ts' {
  interface App {
    /** The types of provider that this deployment serves. */
    readonly catalogue: Catalogue;
  }
}

/** A kind of resource with the type it belongs to and its full name. */
export interface TypedKind {
  /** The catalogue that it is registered in, which finds other kinds by name. */
  readonly catalogue: Catalogue;
  readonly type: ProviderType;
  readonly kind: ResourceKind;
  /** `DigitalOcean.Droplet` */
  readonly name: string;
}

/** A kind of property with the type it belongs to and its full name. */
interface TypedProperty {
  readonly type: ProviderType;
  readonly kind: PropertyKind;
  /** `DigitalOcean.Image` */
  readonly name: string;
}

/** The types of provider of a deployment, with everything that they declare by its name. */
export class Catalogue {
  /** Every kind of resource and of part. */
  readonly kinds: readonly TypedKind[];
  readonly propertyKinds: readonly TypedProperty[];
  readonly #types: ReadonlyMap<string, ProviderType>;
  readonly #kinds: ReadonlyMap<string, TypedKind>;
  readonly #entityKinds: ReadonlyMap<string, EntityKind>;

  /** Throws if there is no type, or if two types or kinds share a name or path. */
  constructor(readonly types: readonly ProviderType[]) {
    if (types.length === 0) throw new Error('At least one provider type is needed');
    const named = <K extends { readonly name: string }>(type: ProviderType, kinds: readonly K[]) =>
      kinds.map((kind) => ({ type, kind, name: `${type.name}.${kind.name}` }));
    this.kinds = types.flatMap((type) => named(type, type.kinds)).map((typed) => ({ catalogue: this, ...typed }));
    this.propertyKinds = types.flatMap((type) => named(type, type.properties));
    const entities = types.flatMap((type) => named(type, type.entities ?? []));
    this.#types = new Map(types.map((type) => [type.name, type]));
    this.#kinds = new Map(this.kinds.map((typed) => [typed.name, typed]));
    this.#entityKinds = new Map(entities.map(({ kind, name }) => [name, kind]));
    rejectRepeated(types.map(({ name }) => name));
    rejectRepeated([...this.kinds, ...this.propertyKinds, ...entities].map(({ name }) => name));
    rejectRepeated([
      ...types.map(({ prefix }) => prefix),
      ...[...this.kinds, ...this.propertyKinds].map(({ kind }) => kind.path),
    ]);
  }

  /** A type by its name. Throws for a name that no row should hold. */
  type(name: string): ProviderType {
    return known(this.#types.get(name), 'provider type', name);
  }

  /** A kind of resource by its full name. Throws for a name that no row should hold. */
  kind(name: string): TypedKind {
    return known(this.#kinds.get(name), 'resource kind', name);
  }

  /** A kind of object of a type's own, by its full name. Throws for a name that no row should hold. */
  entityKind(name: string): EntityKind {
    return known(this.#entityKinds.get(name), 'entity kind', name);
  }

  /** The full name of such a kind. */
  entityName(kind: EntityKind): string {
    return present([...this.#entityKinds].find(([, known]) => known === kind))[0];
  }
}

function known<T>(value: T | undefined, what: string, name: string): T {
  if (value === undefined) throw new Error(`There is no ${what} "${name}"`);
  return value;
}

function rejectRepeated(names: readonly string[]): void {
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated !== undefined) throw new Error(`Two provider types declare "${repeated}"`);
}

/**
 * Defines the SQL functions service_path(type) and kind_path(kind): the segments behind /api/ of the services of a type and of
 * the resources of a kind. The SQL of representations is built before a catalogue exists, also in layers that know none.
 */
export function definePaths(db: SqliteDatabase, catalogue: Catalogue): void {
  db.define('service_path', (type) => catalogue.type(type).prefix);
  db.define('kind_path', (kind) => catalogue.kind(kind).kind.path);
}

/** The link of the resource whose id is in a column; must not be null. */
export const resourceLink = (id: string): Json =>
  linkOfPath(`kind_path((SELECT kind FROM resource WHERE id = ${id}))`, `(SELECT uuid FROM resource WHERE id = ${id})`);
