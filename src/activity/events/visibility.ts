import { type Caller, callerId, seesAll } from '../../kernel/access/caller.ts';
import { connectedProjects, customersWithRole, projectsWithRole } from '../../kernel/access/visibility.ts';
import type { Database } from '../../kernel/db/database.ts';
import { among, any, type Sql, sql } from '../../kernel/db/sql.ts';
import { aboutSubjects, type Predicate } from './query-plan.ts';

/** Condition on `event e`: the caller is its actor, or the user it is about. */
export const namesCaller = ({ uuid }: Caller): Sql =>
  sql`e.context ->> 'user_uuid' = ${uuid} OR e.context ->> 'affected_user_uuid' = ${uuid}`;

/** Condition on `event e`: it names a customer that the caller owns or supports. */
export const ofHeldCustomer = (caller: Caller): Sql =>
  sql`e.context ->> 'customer_uuid' IN (SELECT uuid FROM customer WHERE id IN (${customersWithRole(callerId(caller))}))`;

/** Condition on `event e`: it names a project that the caller reads. */
export const ofReadProject = (caller: Caller): Sql =>
  sql`e.context ->> 'project_uuid' IN (SELECT uuid FROM project WHERE id IN (${connectedProjects(callerId(caller))}))`;

/** The user who reads an event, as SQL expressions. */
interface Reader {
  readonly id: Sql;
  readonly uuid: Sql;
}

/**
 * The context of `event e` as shown to users other than staff and support (events.md 4.4): only the actor and the owners and
 * supporters of the event's customer see the client's address. An address is always the first member.
 */
export const contextFor = ({ id, uuid }: Reader): Sql => sql`
  CASE
    WHEN substr(e.context, 1, 14) <> '{"ip_address":' OR e.context ->> 'user_uuid' = ${uuid}
      OR e.context ->> 'customer_uuid' IN (SELECT uuid FROM customer WHERE id IN (${customersWithRole(id)}))
    THEN e.context
    ELSE json_remove(e.context, '$.ip_address')
  END`;

/** Condition on `event e`: the caller, who is neither staff nor support, can see it (events.md 4.5). */
export const isVisible = (caller: Caller): Sql =>
  any([namesCaller(caller), ofHeldCustomer(caller), ofReadProject(caller)]);

/** The events that a caller can see (events.md 4.5); undefined for callers who can see all. */
export function visibleEvents(db: Database, caller: Caller): Predicate | undefined {
  if (seesAll(caller)) return undefined;
  const user = callerId(caller);
  const customers = customersWithRole(user);
  // Events of a project that never moved name only its customer: a caller with a role in that customer finds them there, and
  // otherwise no other customer repeats them. Events of a moved project may also name its former customers.
  // CROSS JOIN makes SQLite start from the caller's few objects.
  const lasting = db.deferrableValues<number>(sql`
    SELECT s.id FROM customer c CROSS JOIN event_subject s ON s.kind = 'customer' AND s.uuid = c.uuid
    WHERE c.id IN (${customers})
    UNION ALL
    SELECT s.id FROM project p CROSS JOIN event_subject s ON s.kind = 'project' AND s.uuid = p.uuid
    WHERE p.id IN (${projectsWithRole(user)}) AND NOT p.moved AND p.customer_id NOT IN (${customers})`);
  const moved = db.deferrableValues<number>(sql`
    SELECT s.id FROM project p CROSS JOIN event_subject s ON s.kind = 'project' AND s.uuid = p.uuid
    WHERE p.id IN (${connectedProjects(user)}) AND p.moved`);
  const own = db.deferrableValues<number>(
    sql`SELECT id FROM event_subject WHERE kind = 'user' AND uuid = ${caller.uuid}`,
  );
  return {
    condition: isVisible(caller),
    scans: [
      aboutSubjects(lasting),
      aboutSubjects(moved, among('a.customer', lasting)),
      aboutSubjects(own, any([among('a.customer', lasting), among('a.project', [...lasting, ...moved])])),
    ].filter(({ parts }) => parts?.length),
  };
}
