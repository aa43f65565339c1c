import type { EventAudience } from '../../activity/events/visibility.ts';
import { connectedProjects, customersWithRole, projectsWithRole } from '../../kernel/access/visibility.ts';
import { sql } from '../../kernel/db/sql.ts';

/** Which roles let users see events about customers and projects (events.md 4.5, 5.4). */
export const eventAudience: EventAudience = {
  customers: (user) => sql`SELECT uuid FROM customer WHERE id IN (${customersWithRole(user)})`,
  projects: (user) => sql`SELECT uuid FROM project WHERE id IN (${connectedProjects(user)})`,
  // Events of a project that has never moved name only its customer. A caller with a role in that customer finds them there;
  // otherwise, no other customer repeats them. Events of a moved project may also name its former customers.
  // CROSS JOIN makes SQLite start from the caller's few objects.
  fixedSubjects: (user) => {
    const customers = customersWithRole(user);
    return sql`
      SELECT s.id FROM customer c CROSS JOIN event_subject s ON s.kind = 'customer' AND s.uuid = c.uuid
      WHERE c.id IN (${customers})
      UNION ALL
      SELECT s.id FROM project p CROSS JOIN event_subject s ON s.kind = 'project' AND s.uuid = p.uuid
      WHERE p.id IN (${projectsWithRole(user)}) AND NOT p.moved AND p.customer_id NOT IN (${customers})`;
  },
  movedSubjects: (user) => sql`
    SELECT s.id FROM project p CROSS JOIN event_subject s ON s.kind = 'project' AND s.uuid = p.uuid
    WHERE p.id IN (${connectedProjects(user)}) AND p.moved`,
  isMember: (customer, project) => sql`
    EXISTS (
      SELECT 1 FROM active_customer_role r
      WHERE r.user_id = u.id AND r.customer_id = (SELECT id FROM customer WHERE uuid = ${customer}))
    OR EXISTS (
      SELECT 1 FROM project p JOIN active_project_role r ON r.project_id = p.id
      WHERE p.uuid = ${project} AND r.user_id = u.id)
    OR EXISTS (
      SELECT 1 FROM project p JOIN active_customer_role r ON r.customer_id = p.customer_id
      WHERE p.uuid = ${project} AND r.user_id = u.id)`,
  managers: (customer, project) => sql`
    SELECT r.user_id FROM customer c JOIN active_customer_role r ON r.customer_id = c.id
    WHERE c.uuid = ${customer} AND r.role = 'owner'
    UNION
    SELECT r.user_id FROM project p JOIN active_project_role r ON r.project_id = p.id
    WHERE p.uuid = ${project} AND r.role IN ('manager', 'admin')`,
};
