import { type Json, linkOfPath } from '../../kernel/collection/representation.ts';
import type { SqliteDatabase } from '../../kernel/db/sqlite-database.ts';
import { present } from '../../kernel/present.ts';
import type { EntityKind } from './entity-kind.ts';
import type { PropertyKind, ProviderType, ResourceKind } from './type.ts';

// Registered types belong to the deployment, but the kernel must not know that clouds exist, so this layer adds the member.
declare module '../../kernel/app.ts' {
  interface App {
    /** The provider types that this deployment serves. */
    readonly catalogue: Catalogue;
  }
}

/** A kind of resource with its type and full name. */
export interface TypedKind {
  /** Its catalogue, for finding other kinds by name. */
  readonly catalogue: Catalogue;
  readonly type: ProviderType;
  readonly kind: ResourceKind;
  /** `DigitalOcean.Droplet` */
  readonly name: string;
}

/** A kind of property with its type and full name. */
interface TypedProperty {
  readonly type: ProviderType;
  readonly kind: PropertyKind;
  /** `DigitalOcean.Image` */
  readonly name: string;
}

/** The provider types of a deployment, and everything that they declare, by name. */
export class Catalogue {
  /** Every kind of resource and of part. */
  readonly kinds: readonly TypedKind[];
  readonly propertyKinds: readonly TypedProperty[];
  readonly #types: ReadonlyMap<string, ProviderType>;
  readonly #kinds: ReadonlyMap<string, TypedKind>;
  readonly #entityKinds: ReadonlyMap<string, EntityKind>;

  /** Throws if there are no types, or if two types or kinds share a name or path. */
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

  /** Returns a type by name. Throws for a name that no row should contain. */
  type(name: string): ProviderType {
    return known(this.#types.get(name), 'provider type', name);
  }

  /** Returns a kind of resource by its full name. Throws for a name that no row should contain. */
  kind(name: string): TypedKind {
    return known(this.#kinds.get(name), 'resource kind', name);
  }

  /** Returns an entity kind by its full name. Throws for a name that no row should contain. */
  entityKind(name: string): EntityKind {
    return known(this.#entityKinds.get(name), 'entity kind', name);
  }

  /** Returns the full name of an entity kind. */
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
 * Defines the SQL functions service_path(type) and kind_path(kind): the path segments after /api/ of a type's services and a
 * kind's resources. The SQL of representations is built before a catalogue exists, even in layers without one.
 */
export function definePaths(db: SqliteDatabase, catalogue: Catalogue): void {
  db.define('service_path', (type) => catalogue.type(type).prefix);
  db.define('kind_path', (kind) => catalogue.kind(kind).kind.path);
}

/** The link of the resource whose id is in a column. Must not be null. */
export const resourceLink = (id: string): Json =>
  linkOfPath(`kind_path((SELECT kind FROM resource WHERE id = ${id}))`, `(SELECT uuid FROM resource WHERE id = ${id})`);
