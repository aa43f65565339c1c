import type { Config } from '../../kernel/config/config.ts';
import type { Database } from '../../kernel/db/database.ts';
import type { Sql } from '../../kernel/db/sql.ts';

/** Kinds of objects with quotas, alerts and events: the values of `scope_kind` columns. */
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

/** A type within a kind of scope whose paths depend on the type. */
export interface TypedScope {
  /** Name in `content_type` and `scope_type`: `openstack.instance`. */
  readonly name: string;
  /** The type in event contexts: `OpenStack`, `OpenStack.Instance`. */
  readonly type: string;
  readonly path: string;
  /** SQL condition on the columns of the kind's table. */
  readonly only: string;
  /** Whether its objects are parts of others. Parts are omitted from the list of scope types. */
  readonly isPart?: boolean;
}

/** The customer or project of an object. */
interface Parent {
  readonly kind: 'customer' | 'project';
  /** The column with the parent's id in the object's table. */
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
  /** The types of this kind, each with a name and path. */
  readonly typed?: readonly TypedScope[];
  readonly table: string;
  /** Undefined unless all objects belong to a customer or project. */
  readonly parent?: Parent;
  /** Whether POST of alerts and events accepts it. */
  readonly accepted: boolean;
  /** Selects the ids of the objects that a user without global rights can read (events.md 1.2). */
  readonly readable: (user: Sql) => Sql;
  /** Selects the ids of the objects that such a user can find by link, if settings restrict them. */
  readonly findable?: (user: Sql, config: Config) => Sql;
  /** Selects the ids of the objects whose quotas and alerts such a user can read, if not all readable ones. */
  readonly usageReadable?: (user: Sql) => Sql;
  /**
   * SQL queries that recount objects of this kind, by kind of object with the quota and by quota name. Each returns a row
   * `scope_id, counted` for each object with a count above 0.
   */
  readonly quotaCounts?: Readonly<Partial<Record<ScopeKind | 'global', Readonly<Record<string, string>>>>>;
  /** Returns the OWN keys: the object and its owners. */
  readonly own: (db: Database, id: number) => EventContext;
  /** Returns the SCOPE keys: the object as the scope of an alert or event. */
  readonly scope: (db: Database, id: number) => EventContext;
}

/** An object with a single name. */
export interface Named {
  readonly uuid: string;
  readonly name: string;
}

/** Returns the SCOPE keys of an object with a single name. */
export const namedScope = ({ name, uuid }: Named): EventContext => ({ scope_uuid: uuid, scope_name: name });
