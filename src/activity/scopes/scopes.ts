import { type Caller, callerId, seesAll } from '../../kernel/access/caller.ts';
import { computedValue, type Json, linkValue, render } from '../../kernel/collection/representation.ts';
import type { Config } from '../../kernel/config/config.ts';
import { any, raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { namesOf } from '../../kernel/names.ts';
import type { Scope, ScopeKind, TypedScope } from './scope.ts';

// The kernel must not know about events, so this layer adds its own member to App.
declare module '../../kernel/app.ts' {
  interface App {
    /** The kinds of object that quotas, alerts and events are about. */
    readonly scopes: Scopes;
  }
}

/** Normalizes a name: queries ignore case and underscores (events.md 1.3). */
export const plainName = (name: string): string => name.toLowerCase().replaceAll('_', '');

type Entry = readonly [ScopeKind, Scope];

/** The kinds of scope of a deployment, as the domains declare them. */
export class Scopes {
  readonly entries: readonly Entry[];

  constructor(private readonly kinds: Readonly<Record<ScopeKind, Scope>>) {
    this.entries = namesOf(kinds).map((kind) => [kind, kinds[kind]]);
  }

  of(kind: ScopeKind): Scope {
    return this.kinds[kind];
  }

  /** The types of a kind whose objects have typed paths. */
  typesOf(kind: 'service' | 'link' | 'resource'): readonly TypedScope[] {
    return this.kinds[kind].typed ?? [];
  }

  /** The kind whose objects stand under a path, and of a type the condition on the columns of the kind's table. */
  ofPath(segment: string | undefined): { kind: ScopeKind; scope: Scope; only: string } | undefined {
    for (const [kind, scope] of this.entries) {
      if (scope.path !== undefined && scope.path === segment) return { kind, scope, only: 'TRUE' };
      const type = scope.typed?.find(({ path }) => path === segment);
      if (type) return { kind, scope, only: type.only };
    }
    return undefined;
  }

  /** The kinds a query value names by full or short name, without case and underscores; typed ones are not among them. */
  named(value: string): ScopeKind[] {
    return this.entries
      .filter(([, { name, short }]) =>
        [name, short].some((known) => known !== undefined && plainName(value) === plainName(known)),
      )
      .map(([kind]) => kind);
  }

  /** Condition: the object that a pair of columns names is of the kind, or the type of a kind, that a query value names. */
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
   * Condition: a user reads of the use of the object that a pair of columns names, of any kind but quota; a global quota is
   * nobody's.
   */
  usageReadable(user: Sql, kind: string, id: string): Sql {
    const { quota: _, ...others } = this.kinds;
    return usageReadableAmong(others, user, kind, id);
  }

  /** The link of the object that a pair of columns names, or null when there is none. */
  link(kind: string, id: string): Json {
    const cases = this.entries.map(([name, scope]) => `WHEN '${name}' THEN ${linkIn(scope, id)}`);
    return computedValue(`CASE ${kind} ${cases.join(' ')} ELSE 'null' END`);
  }
}

/** Condition: a user reads of the use of the object that a pair of columns names, of one of these kinds. */
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

/** Condition: a link leads the caller to the object of this kind whose id stands in the column. */
export const foundBy = (
  { caller, config }: { readonly caller: Caller; readonly config: Config },
  { result, readable }: Scope,
  column: string,
): Sql => (seesAll(caller) ? raw('TRUE') : sql`${raw(column)} IN (${(result ?? readable)(callerId(caller), config)})`);

/** SQL of the link of an object of this kind. */
function linkIn({ path, table, typed = [] }: Scope, id: string): string {
  if (path !== undefined) return render(linkValue(path, `(SELECT uuid FROM ${table} WHERE id = ${id})`));
  const types = typed.map((type) => `WHEN ${type.only} THEN ${render(linkValue(type.path, 'uuid'))}`);
  return `(SELECT CASE ${types.join(' ')} ELSE 'null' END FROM ${table} WHERE id = ${id})`;
}
