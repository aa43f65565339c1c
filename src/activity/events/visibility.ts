import { type Caller, callerId, personalUuid, seesAll } from '../../kernel/access/caller.ts';
import type { App } from '../../kernel/app.ts';
import { among, any, type Sql, sql } from '../../kernel/db/sql.ts';
import { aboutSubjects, type Predicate } from './query-plan.ts';

/**
 * SQL for the roles that let users see events about customers and projects (events.md 4.5). The layer that owns the tables of the
 * roles provides it. Each function takes the user's id.
 */
export interface EventAudience {
  /** Selects the uuids of the customers in which a user has a role. */
  readonly customers: (user: Sql) => Sql;
  /** Selects the uuids of the projects in which a user has a role, in the project or in its customer. */
  readonly projects: (user: Sql) => Sql;
  /** Selects the ids in `event_subject` of customers and never moved projects, which lead to each event once. */
  readonly fixedSubjects: (user: Sql) => Sql;
  /** Selects the ids in `event_subject` of moved projects, whose events may also name a former customer. */
  readonly movedSubjects: (user: Sql) => Sql;
  /** Condition on `user u`: has a role in the customer or project with these uuids, or in the project's customer. */
  readonly isMember: (customer: string, project: string) => Sql;
  /** Selects the ids of the users who manage the project or, without one, the customer with these uuids, including owners. */
  readonly managers: (customer: string, project: string) => Sql;
}

declare module '../../kernel/app.ts' {
  interface App {
    readonly eventAudience: EventAudience;
  }
}

/** The caller of a request, and the deployment. */
interface Request {
  readonly app: Pick<App, 'db' | 'eventAudience'>;
  readonly caller: Caller;
}

/** Condition on `event e`: the user is its actor or its affected user. */
export const namesUser = ({ uuid }: { readonly uuid: Sql | string }): Sql =>
  sql`e.context ->> 'user_uuid' = ${uuid} OR e.context ->> 'affected_user_uuid' = ${uuid}`;

/** Condition on `event e`: it names a customer in which the caller has a role. */
export const namesCustomerOf = ({ app: { eventAudience }, caller }: Request): Sql =>
  sql`e.context ->> 'customer_uuid' IN (${eventAudience.customers(callerId(caller))})`;

/** Condition on `event e`: it names a project that the caller can read. */
export const namesProjectOf = ({ app: { eventAudience }, caller }: Request): Sql =>
  sql`e.context ->> 'project_uuid' IN (${eventAudience.projects(callerId(caller))})`;

/** The reader of an event, as SQL expressions. */
interface Reader {
  readonly id: Sql;
  readonly uuid: Sql;
}

/**
 * The context of `event e` as shown to users other than staff and support (events.md 4.4): only the actor and the owners and
 * supporters of the event's customer see the client's address. An address is always the first member.
 */
export const contextFor = ({ id, uuid }: Reader, { customers }: EventAudience): Sql => sql`
  CASE
    WHEN substr(e.context, 1, 14) <> '{"ip_address":' OR e.context ->> 'user_uuid' = ${uuid}
      OR e.context ->> 'customer_uuid' IN (${customers(id)})
    THEN e.context
    ELSE json_remove(e.context, '$.ip_address')
  END`;

/** Condition on `event e`: a user who is neither staff nor support can see it (events.md 4.5). */
export const isVisibleTo = ({ id, uuid }: Reader, { customers, projects }: EventAudience): Sql =>
  any([
    namesUser({ uuid }),
    sql`e.context ->> 'customer_uuid' IN (${customers(id)})`,
    sql`e.context ->> 'project_uuid' IN (${projects(id)})`,
  ]);

/** Condition on `event e`: the caller, who is neither staff nor support, can see it (events.md 4.5). */
export const isVisible = ({ app: { eventAudience }, caller }: Request): Sql =>
  isVisibleTo({ id: callerId(caller), uuid: sql`${personalUuid(caller)}` }, eventAudience);

/** Returns the events that a caller can see (events.md 4.5); undefined for callers who can see all. */
export function visibleEvents(request: Request): Predicate | undefined {
  const { app, caller } = request;
  const { db, eventAudience } = app;
  if (seesAll(caller)) return undefined;
  const user = callerId(caller);
  const fixed = db.deferrableValues<number>(eventAudience.fixedSubjects(user));
  const moved = db.deferrableValues<number>(eventAudience.movedSubjects(user));
  const own = db.deferrableValues<number>(
    sql`SELECT id FROM event_subject WHERE kind = 'user' AND uuid = ${personalUuid(caller)}`,
  );
  return {
    condition: isVisible(request),
    scans: [
      aboutSubjects(fixed),
      aboutSubjects(moved, among('a.customer', fixed)),
      aboutSubjects(own, any([among('a.customer', fixed), among('a.project', [...fixed, ...moved])])),
    ].filter(({ parts }) => parts?.length),
  };
}
