import { changeText, projectContext } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import {
  countQuotas,
  createQuotas,
  embeddedQuotas,
  type QuotaDelta,
  quotaNames,
  requireQuotas,
  spendQuotas,
  usages,
} from '../../activity/quotas/usage.ts';
import type { EventContext } from '../../activity/scopes/scope.ts';
import { callerId } from '../../kernel/access/caller.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import { anyOf, ownersOf, right, staff, visibleTo } from '../../kernel/access/right.ts';
import { ownsCustomerUntil } from '../../kernel/access/rights.ts';
import { customersWithRole, projectsWithRole, visibleProjects } from '../../kernel/access/visibility.ts';
import { newUuid } from '../../kernel/app.ts';
import { action } from '../../kernel/collection/action.ts';
import { type Columns, changesOf } from '../../kernel/collection/changes.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { type NewValues, readOnlyList, readOnlyText, readOnlyTime, uuidField } from '../../kernel/collection/field.ts';
import {
  type Filter,
  flagFilter,
  instant,
  ofName,
  partial,
  textFilter,
  uuidOf,
} from '../../kernel/collection/filter.ts';
import { exampleLink } from '../../kernel/collection/json-schema.ts';
import { link, selfLink } from '../../kernel/collection/links.ts';
import { constant, type Json, notNullText, plainValue, textValue } from '../../kernel/collection/representation.ts';
import { text } from '../../kernel/collection/values.ts';
import { contains, sql } from '../../kernel/db/sql.ts';
import { changed } from '../../kernel/http/reply.ts';
import { customers } from '../customers/customers.ts';
import { customerNames } from '../customers/scope.ts';
import { eventReaders, isConnected, recountUsers, revokeRolesIn } from '../roles/roles.ts';
import { certificationsField, replaceCertifications } from './certifications.ts';

interface ProjectRow extends Row {
  readonly customer_id: number;
  readonly name: string;
  readonly description: string;
}

declare module '../../kernel/app.ts' {
  interface Reactions {
    /** A project was created with its quotas. Its event is recorded afterwards. */
    readonly projectCreated: (context: Context, project: number) => void;
    /** A project is about to move to another customer. Its usages still count for the old one. */
    readonly projectMoving: (context: Context, project: number) => void;
    /** A project was moved, and its usages count for its new customer. */
    readonly projectMoved: (context: Context, project: number) => void;
    /** A project without resources and roles is being deleted. Its usages and its row are removed afterwards. */
    readonly projectDeleted: (context: Context, project: number) => void;
  }
  interface Guards {
    /** Throws 409 if a project has resources. The message starts with `action`, such as `Cannot delete project`. */
    readonly projectHasNoResources: (context: Context, project: number, action: string) => void;
  }
}

const ofCustomer = (column: string): string => `(SELECT ${column} FROM customer WHERE id = p.customer_id)`;

/** Returns the fields. `services` renders the linked services of the project in alias `p`, whose customer is joined. */
const fieldsWith = (services: Json) => ({
  url: selfLink('projects', 'p.uuid'),
  uuid: uuidField(),
  name: text({ max: 150, required: true, example: 'Website' }),
  customer: link({ required: true, to: () => customers, key: 'customer.uuid' }),
  customer_uuid: readOnlyText(plainValue('customer.uuid')),
  customer_name: readOnlyText(notNullText('customer.name')),
  customer_native_name: readOnlyText(notNullText('customer.native_name')),
  customer_abbreviation: readOnlyText(textValue('customer.abbreviation')),
  description: text({ max: 500, lines: 'many' }),
  quotas: readOnlyList(embeddedQuotas('project', 'p.id')),
  services: readOnlyList(services),
  created: readOnlyTime(),
  certifications: certificationsField({ required: false }),
});

type NewProject = NewValues<ReturnType<typeof fieldsWith>>;

/** Filters by a case-insensitive substring of a column of the project's customer. */
const partialOfCustomer = (column: string): Filter =>
  textFilter(
    partial(column).help,
    (part) => sql`p.customer_id IN (SELECT id FROM customer WHERE ${contains(column, part)})`,
  );

/** A valid body for the documentation. */
const example = {
  name: 'Website',
  customer: exampleLink('customers'),
  description: 'The public website and its shop.',
};

/** A change that may move the project to another customer. */
interface Move {
  readonly row: ProjectRow;
  readonly values: { readonly customer?: number };
}

/** The right to change projects (core.md 7.3). */
const managers = anyOf(staff, ownersOf('customer_id'));

/**
 * The right to move a project to another customer (core.md 7.3). Owners whose role expires cannot move projects, because they
 * could keep them beyond the end of the role.
 */
const movers = anyOf(
  staff,
  right('owners of the customer, for a move owners of both customers without an end', (request, move: Move) => {
    const { row, values } = move;
    const both = [row.customer_id, values.customer ?? row.customer_id];
    return both[0] === both[1] || both.every((id) => ownsCustomerUntil(request.db, request.caller, id, null));
  }),
);

/** Creates the served collection. A higher layer passes in the representation of services. */
export const projectsWith = (services: Json) =>
  collection<ProjectRow>()({
    path: 'projects',
    kind: 'Project',
    description: 'Projects of customers. Users get roles in them; resources live in them.',
    table: 'project',
    alias: 'p',
    fields: fieldsWith(services),
    parents: 'CROSS JOIN customer ON customer.id = p.customer_id',
    visible: visibleTo('users with a role in the project or its customer; staff and global support', (caller) =>
      visibleProjects(caller, 'p.id'),
    ),
    invalidatedBy: {
      project: { column: 'id' },
      customer: { column: 'id', through: { table: 'project', match: 'customer_id', id: 'id' } },
      customer_role: { column: 'customer_id', through: { table: 'project', match: 'customer_id', id: 'id' } },
      project_role: { column: 'project_id' },
      quota: { column: 'scope_id', where: { column: 'scope_kind', is: 'project' } },
    },
    described: () => true,
    examples: { create: example, replace: example, change: { description: 'The public website.' } },
    filters: {
      can_manage: flagFilter(
        'Projects that the caller manages or whose customer they own.',
        ({ caller }) => sql`
        p.id IN (${projectsWithRole(callerId(caller))} AND role = 'manager')
        OR p.customer_id IN (${customersWithRole(callerId(caller))} AND role = 'owner')`,
      ),
      can_admin: flagFilter(
        'Projects in which the caller is an administrator.',
        ({ caller }) => sql`p.id IN (${projectsWithRole(callerId(caller))} AND role = 'admin')`,
      ),
      customer: uuidOf('p.customer_id', 'customer', 'Uuid of the customer.'),
      customer_name: partialOfCustomer('name'),
      customer_native_name: partialOfCustomer('native_name'),
      customer_abbreviation: partialOfCustomer('abbreviation'),
      ...ofName('p.name'),
      description: partial('p.description'),
      created: instant('p.created'),
    },
    orderings: {
      name: 'p.name COLLATE NOCASE',
      created: 'p.created',
      customer_name: `${ofCustomer('name')} COLLATE NOCASE`,
      customer_native_name: `${ofCustomer('native_name')} COLLATE NOCASE`,
      customer_abbreviation: `${ofCustomer('abbreviation')} COLLATE NOCASE`,
    },
    order: 'p.name COLLATE NOCASE',
    create: { rightWith: anyOf(staff, ownersOf('customer')), run: create },
    update: { right: managers, rightWith: movers, run: update },
    delete: { right: managers, run: remove },
  });

/** Projects for links and paths. Lacks their services, so it must not represent them. */
export const projects = projectsWith(constant('[]'));

function remove(request: Request, row: ProjectRow): void {
  const { db } = request;
  request.app.guards.projectHasNoResources(request, row.id, 'Cannot delete project');
  const extraRecipients = eventReaders(db, 'project', row.id);
  revokeRolesIn(request, 'project', row.id, extraRecipients);
  request.app.reactions.projectDeleted(request, row.id);
  countQuotas(
    request,
    quotaContribution(request, row).map((part) => ({ ...part, delta: -part.delta })),
  );
  countQuotas(request, [{ scope: 'global', id: 0, name: 'nc_global_project_count', delta: -1 }]);
  const context = contextOf(request, row);
  db.run(sql`DELETE FROM project WHERE id = ${row.id}`);
  record(request, 'project_deletion_succeeded', context, { extraRecipients });
}

function create(request: Request, { certifications = [], customer, name }: NewProject, columns: Columns): number {
  const { app, db, now } = request;
  spendQuotas(request, [
    { scope: 'customer', id: customer, name: 'nc_project_count', delta: 1 },
    { scope: 'global', id: 0, name: 'nc_global_project_count', delta: 1 },
  ]);
  const uuid = newUuid(app);
  const id = db.insert('project', { uuid, created: now, ...columns });
  createQuotas(request, 'project', id, quotaNames.project);
  if (certifications.length > 0) replaceCertifications(db, id, certifications);
  app.reactions.projectCreated(request, id);
  record(request, 'project_creation_succeeded', contextOf(request, { uuid, name, customer_id: customer }));
  return id;
}

function update(request: Request, row: ProjectRow, _: unknown, columns: Columns): void {
  const { db } = request;
  const { customer_id: _moved, ...changes } = changesOf(row, columns);
  const after: ProjectRow = { ...row, ...columns };
  const { customer_id: target, description, name } = after;
  const isMoved = target !== row.customer_id;
  if (!isMoved && Object.keys(changes).length === 0) return;
  const texts = [
    name !== row.name && changeText('Name', row.name, name),
    description !== row.description && changeText('Description', row.description, description),
    isMoved && changeText('Customer', customerNames(db, row.customer_id).name, customerNames(db, target).name),
  ];
  // Without a move, all users who could see the project still can.
  const extraRecipients = isMoved ? eventReaders(db, 'project', row.id) : [];
  if (isMoved) move(request, row, target);
  db.update('project', row.id, changes);
  record(request, 'project_update_succeeded', contextOf(request, after), {
    changes: texts.filter((text) => text !== false).join(''),
    extraRecipients,
  });
}

/** Moves a project and its usages to another customer. Throws 409 if that exceeds a quota there. */
function move(request: Request, row: ProjectRow, target: number): void {
  const { db } = request;
  const { guards, reactions } = request.app;
  guards.projectHasNoResources(request, row.id, 'Cannot move project');
  reactions.projectMoving(request, row.id);
  const leaving = quotaContribution(request, row);
  const joining = leaving.map((part) => ({ ...part, id: target }));
  const members = db.values<number>(sql`SELECT user_id FROM active_project_role WHERE project_id = ${row.id}`);
  const newUsers = members.filter((user) => !isConnected(db, target, user)).length;
  requireQuotas(request, [...joining, { scope: 'customer', id: target, name: 'nc_user_count', delta: newUsers }]);
  db.update('project', row.id, { customer_id: target, moved: 1 });
  countQuotas(
    request,
    leaving.map((part) => ({ ...part, delta: -part.delta })),
  );
  countQuotas(request, joining);
  recountUsers(request, row.customer_id);
  recountUsers(request, target);
  reactions.projectMoved(request, row.id);
}

/** Returns what a project adds to its customer's quotas: one project, and its own usages under the same names. */
function quotaContribution({ db }: Request, row: ProjectRow): QuotaDelta[] {
  const own = [...usages(db, 'project', row.id)].map(
    ([name, delta]) => ({ scope: 'customer', id: row.customer_id, name, delta }) as const,
  );
  return [{ scope: 'customer', id: row.customer_id, name: 'nc_project_count', delta: 1 }, ...own];
}

const contextOf = (request: Request, row: Pick<ProjectRow, 'customer_id' | 'name' | 'uuid'>): EventContext =>
  projectContext(row, customerNames(request.db, row.customer_id));

/** POST /api/projects/<uuid>/update_certifications/ */
export const updateCertifications = (served: ReturnType<typeof projectsWith>) =>
  action({
    on: served,
    name: 'update_certifications',
    summary: 'Replaces the certifications of a project.',
    description: 'Replaces the certifications that a project requires of its providers.',
    right: managers,
    fields: { certifications: certificationsField({ required: true }) },
    output: { status: 200, shape: served.shape },
    run: (request, row, { certifications }) => {
      replaceCertifications(request.db, row.id, certifications);
      return changed(served.represent(request, row.id));
    },
  });
