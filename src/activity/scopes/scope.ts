import type { Config } from '../../kernel/config/config.ts';
import type { Database } from '../../kernel/db/database.ts';
import type { Sql } from '../../kernel/db/sql.ts';

/** The kinds of object that quotas, alerts and events are about; what `scope_kind` columns hold. */
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

/** Context of an event: strings only; null and undefined leave their key out (events.md 1.3, 4.1). */
export type EventContext = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** One type of a kind of scope whose objects have typed paths. */
export interface TypedScope {
  /** Name in `content_type` and `scope_type`: `openstack.instance`. */
  readonly name: string;
  /** The type as contexts of events tell it: `OpenStack`, `OpenStack.Instance`. */
  readonly type: string;
  readonly path: string;
  /** SQL condition on the columns of the kind's table. */
  readonly only: string;
  /** Whether its objects are parts of others, which are no types that events are listed by. */
  readonly isPart?: boolean;
}

/** One kind of scope (events.md 1.3): the domain that its objects belong to declares it. */
export interface Scope {
  /** Name in `content_type` and `scope_type`; absent where every type has a name of its own. */
  readonly name?: string;
  /** Short name, where there is one. */
  readonly short: string | undefined;
  /** Segment behind /api/; absent where every type has its own. */
  readonly path?: string;
  /** The types of such an object, each with its own name and path. */
  readonly typed?: readonly TypedScope[];
  readonly table: string;
  /** Whether POST of alerts and events takes it. */
  readonly accepted: boolean;
  /** Ids of the objects of this kind that a user without sight of everything reads (events.md 1.2). */
  readonly readable: (user: Sql) => Sql;
  /** Ids of those that a link leads such a user to, where settings leave fewer. */
  readonly found?: (user: Sql, config: Config) => Sql;
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
