import type { Config } from '../../kernel/config/config.ts';
import type { Database } from '../../kernel/db/database.ts';
import type { Sql } from '../../kernel/db/sql.ts';

/** The kinds of object that quotas, alerts and events are about: the values of `scope_kind` columns. */
export type ScopeKind =
  | 'user'
  | 'key'
  | 'quota'
  | 'customer'
  | 'project'
  | 'settings'
  | 'service'
  | 'link'
  | 'resource';

/** Context values of an event. They are stored as strings; null and undefined omit their key (events.md 1.3, 4.1). */
export type EventContext = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A type of a kind of scope whose objects have typed paths. */
export interface TypedScope {
  /** Name in `content_type` and `scope_type`: `openstack.instance`. */
  readonly name: string;
  /** The type in contexts of events: `OpenStack`, `OpenStack.Instance`. */
  readonly type: string;
  readonly path: string;
  /** SQL condition on the columns of the kind's table. */
  readonly only: string;
  /** Whether its objects are parts of others. Parts are not listed as scope types. */
  readonly isPart?: boolean;
}

/** The customer or the project that an object belongs to. */
interface Parent {
  readonly kind: 'customer' | 'project';
  /** The column of the object's table with the parent's id. */
  readonly column: string;
}

/** A kind of scope (events.md 1.3), declared by the module that owns its objects. */
export interface Scope {
  /** Name in `content_type` and `scope_type`; undefined if every type has its own name. */
  readonly name?: string;
  /** Short name; undefined if it has none. */
  readonly short: string | undefined;
  /** Path segment after /api/; undefined if every type has its own. */
  readonly path?: string;
  /** The types of this kind, each with its own name and path. */
  readonly typed?: readonly TypedScope[];
  readonly table: string;
  /** Undefined if the objects belong to no customer or project, or not all of them do. */
  readonly parent?: Parent;
  /** Whether POST of alerts and events accepts it. */
  readonly accepted: boolean;
  /** Selects the ids of the objects that a user can read, for users who cannot read all (events.md 1.2). */
  readonly readable: (user: Sql) => Sql;
  /** Selects the ids of the readable objects that such a user can find by a link, if settings restrict them. */
  readonly findable?: (user: Sql, config: Config) => Sql;
  /** Selects the ids of the readable objects whose quotas and alerts such a user can read, if not all. */
  readonly usageReadable?: (user: Sql) => Sql;
  /**
   * SQL queries that count objects of this kind from scratch, by the kind of object that has the quota and the name of the
   * quota. Each returns a row `scope_id, counted` for each object with a count above 0.
   */
  readonly quotaCounts?: Readonly<Partial<Record<ScopeKind | 'global', Readonly<Record<string, string>>>>>;
  /** OWN keys: the object itself and the objects it belongs to. */
  readonly own: (db: Database, id: number) => EventContext;
  /** SCOPE keys: the object as the scope of an alert or event. */
  readonly scope: (db: Database, id: number) => EventContext;
}

/** An object that has no other names than its name. */
export interface Named {
  readonly uuid: string;
  readonly name: string;
}

/** SCOPE keys of an object that has no other names than its name. */
export const namedScope = ({ name, uuid }: Named): EventContext => ({ scope_uuid: uuid, scope_name: name });
