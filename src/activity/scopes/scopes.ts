import { type Caller, callerId, seesAll } from '../../kernel/access/caller.ts';
import { computedValue, type Json, linkValue, render } from '../../kernel/collection/representation.ts';
import type { Config } from '../../kernel/config/config.ts';
import type { Database } from '../../kernel/db/database.ts';
import { any, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { namesOf, present } from '../../kernel/present.ts';
import type { Scope, ScopeKind, TypedScope } from './scope.ts';

// The kernel must not know about events, so this layer adds its member to App.
declare module '../../kernel/app.ts' {
  interface App {
    /** The kinds of scope of quotas, alerts and events. */
    readonly scopes: Scopes;
  }
}

/** Normalizes a name: queries ignore case and underscores (events.md 1.3). */
export const plainName = (name: string): string => name.toLowerCase().replaceAll('_', '');

type Entry = readonly [ScopeKind, Scope];

/** The kinds of scope of a deployment, each declared by the module that owns its objects. */
export class Scopes {
  readonly entries: readonly Entry[];

  constructor(private readonly kinds: Readonly<Record<ScopeKind, Scope>>) {
    this.entries = namesOf(kinds).map((kind) => [kind, kinds[kind]]);
  }

  of(kind: ScopeKind): Scope {
    return this.kinds[kind];
  }

  /** Returns the types of a kind with typed paths. */
  typesOf(kind: 'service' | 'link' | 'resource'): readonly TypedScope[] {
    return this.kinds[kind].typed ?? [];
  }

  /** Returns the kind with a path, and the condition on its table that selects the type with this path. */
  ofPath(segment: string | undefined): { kind: ScopeKind; scope: Scope; only: string } | undefined {
    for (const [kind, scope] of this.entries) {
      if (scope.path !== undefined && scope.path === segment) return { kind, scope, only: 'TRUE' };
      const type = scope.typed?.find(({ path }) => path === segment);
      if (type) return { kind, scope, only: type.only };
    }
    return undefined;
  }

  /** Returns the kinds with a full or short name, ignoring case and underscores. Does not match the names of types. */
  named(value: string): ScopeKind[] {
    return this.entries
      .filter(([, { name, short }]) =>
        [name, short].some((known) => known !== undefined && plainName(value) === plainName(known)),
      )
      .map(([kind]) => kind);
  }

  /** Condition: the object in two columns is of the kind or type with this name. */
  isNamed(value: string, kind: string, id: string): Sql {
    const simple = this.named(value).map((name) => sql`${raw(kind)} = ${name}`);
    const typed = this.entries.flatMap(([name, { table, typed: types = [] }]) =>
      types
        .filter((type) => plainName(type.name) === plainName(value))
        .map(
          ({ only }) => sql`${raw(kind)} = ${name} AND ${raw(id)} IN (SELECT id FROM ${raw(table)} WHERE ${raw(only)})`,
        ),
    );
    return any([...simple, ...typed]);
  }

  /**
   * Condition: a user can read the quotas and alerts of the object in two columns. Never matches global quotas, or quotas as
   * objects.
   */
  usageReadable(user: Sql, kind: string, id: string): Sql {
    const { quota: _, ...others } = this.kinds;
    return usageReadableAmong(others, user, kind, id);
  }

  /** Returns the link of the object in two columns, or null. */
  link(kind: string, id: string): Json {
    const cases = this.entries.map(([name, scope]) => `WHEN '${name}' THEN ${linkIn(scope, id)}`);
    return computedValue(`CASE ${kind} ${cases.join(' ')} ELSE 'null' END`);
  }

  /** Selects the ids of objects of a kind whose parents a query selects. */
  childrenOf(parents: Sql, kind: ScopeKind): Sql {
    const { parent, table } = this.kinds[kind];
    return sql`SELECT id FROM ${raw(table)} WHERE ${raw(present(parent).column)} IN (${parents})`;
  }

  /** Returns the id of an object's customer, directly or through its project. */
  customerOf(db: Database, kind: ScopeKind, id: number): number | undefined {
    const { parent, table } = this.kinds[kind];
    if (!parent) return undefined;
    const owner = db.value<number>(sql`SELECT ${raw(parent.column)} FROM ${raw(table)} WHERE id = ${id}`);
    return parent.kind === 'customer' || owner === undefined ? owner : this.customerOf(db, parent.kind, owner);
  }

  /** Returns the queries that recount the quotas of a kind of object, with the quota names. */
  quotaCounts(kind: ScopeKind | 'global'): (readonly [name: string, query: string])[] {
    return this.entries.flatMap(([, scope]) => Object.entries(scope.quotaCounts?.[kind] ?? {}));
  }
}

/** Condition: a user can read the quotas and alerts of the object in two columns. It must be of one of these kinds. */
export const usageReadableAmong = (
  kinds: Readonly<Partial<Record<ScopeKind, Scope>>>,
  user: Sql,
  kind: string,
  id: string,
): Sql =>
  any(
    Object.entries(kinds).map(
      ([name, scope]) =>
        sql`${raw(kind)} = ${name} AND ${raw(id)} IN (${(scope.usageReadable ?? scope.readable)(user)})`,
    ),
  );

/** Condition: the caller can find the object with the id in the column. */
export const isFindable = (
  { caller, config }: { readonly caller: Caller; readonly config: Config },
  { findable, readable }: Scope,
  column: string,
): Sql =>
  seesAll(caller) ? raw('TRUE') : sql`${raw(column)} IN (${(findable ?? readable)(callerId(caller), config)})`;

/** SQL of the link of an object of this kind. */
function linkIn({ path, table, typed = [] }: Scope, id: string): string {
  if (path !== undefined) return render(linkValue(path, `(SELECT uuid FROM ${table} WHERE id = ${id})`));
  const types = typed.map((type) => `WHEN ${type.only} THEN ${render(linkValue(type.path, 'uuid'))}`);
  return `(SELECT CASE ${types.join(' ')} ELSE 'null' END FROM ${table} WHERE id = ${id})`;
}
