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

/** A kind of scope (events.md 1.3), declared by the domain of its objects. */
export interface Scope {
  /** Name in `content_type` and `scope_type`; undefined if every type has its own name. */
  readonly name?: string;
  /** Short name, where there is one. */
  readonly short: string | undefined;
  /** Segment behind /api/; undefined if every type has its own. */
  readonly path?: string;
  /** The types of such an object, each with its own name and path. */
  readonly typed?: readonly TypedScope[];
  readonly table: string;
  /** Whether POST of alerts and events takes it. */
  readonly accepted: boolean;
  /** Ids of the objects of this kind that a user without sight of everything reads (events.md 1.2). */
  readonly readable: (user: Sql) => Sql;
  /** Ids of those that a link leads such a user to, where settings leave fewer. */
  readonly result?: (user: Sql, config: Config) => Sql;
  /** Ids of those of whose use a user reads, their quotas and the alerts about them, where these are fewer. */
  readonly usageReadable?: (user: Sql) => Sql;
  /** OWN keys: the object itself and what it belongs to. */
  readonly own: (db: Database, id: number) => EventContext;
  /** SCOPE keys: the object as the scope of an alert or event. */
  readonly scope: (db: Database, id: number) => EventContext;
}

/** What names an object that has just a name. */
export interface Named {
  readonly uuid: string;
  readonly name: string;
}

/** SCOPE keys of an object that has just a name. */
export const namedScope = ({ name, uuid }: Named): EventContext => ({ scope_uuid: uuid, scope_name: name });
