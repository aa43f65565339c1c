import { type Caller, isStaff, seesAll } from '../../kernel/access/caller.ts';
import { newUuid } from '../../kernel/access/deployment.ts';
import type { Request } from '../../kernel/access/request.ts';
import { ownsSomeCustomer } from '../../kernel/access/rights.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { exampleLink } from '../../kernel/collection/example.ts';
import { shown, shownText, shownTime, uuidField, type Values } from '../../kernel/collection/field.ts';
import { exact, exactUuid, type Filter, linked, oneOf, uuidOf } from '../../kernel/collection/filter.ts';
import { link, selfLink } from '../../kernel/collection/links.ts';
import { textValue } from '../../kernel/collection/representation.ts';
import { choice, email, orNull, text } from '../../kernel/collection/values.ts';
import { raw, type Sql, sql } from '../../kernel/db/sql.ts';
import { invalid, invalidRequest } from '../../kernel/http/error.ts';
import { customers } from '../customers/customers.ts';
import { mayManageUntil, ownedCustomers, projectsOf } from '../permissions/permissions.ts';
import { projects } from '../projects/projects.ts';
import { roleNames, type Structure } from '../roles/roles.ts';
import { linkTemplateProblem } from './link-template.ts';
import { cancelMails, queueMail } from './mails.ts';

export type State = 'pending' | 'accepted' | 'canceled' | 'expired';

/** An invitation leads either to a project or to a customer. */
export interface InvitationRow extends Row {
  readonly email: string;
  readonly civil_number: string;
  readonly project_id: number | null;
  readonly project_role: string | null;
  readonly customer_id: number | null;
  readonly customer_role: string | null;
  readonly state: State;
  readonly created_by: number | null;
}

/** What an invitation leads to. */
export interface Target {
  readonly structure: Structure;
  /** Id of the customer or project. */
  readonly scope: number;
  readonly role: string;
}

export const targetOf = (row: InvitationRow): Target =>
  row.project_id === null
    ? { structure: 'customer', scope: row.customer_id as number, role: row.customer_role as string }
    : { structure: 'project', scope: row.project_id, role: row.project_role as string };

const ofProject = (column: string): string => `(SELECT ${column} FROM project WHERE id = i.project_id)`;
/** Of a project invitation: of the project's customer. */
const ofCustomer = (column: string): string =>
  `(SELECT ${column} FROM customer WHERE id = ifnull(i.customer_id, ${ofProject('customer_id')}))`;

const roleIn = (structure: Structure) => orNull(choice({ choices: () => Object.entries(roleNames[structure]) }));
const states: readonly State[] = ['pending', 'accepted', 'canceled', 'expired'];

const fields = {
  url: selfLink('user-invitations', 'i.uuid'),
  uuid: uuidField(),
  link_template: text({
    max: 255,
    required: true,
    help: 'Link in the mail; {uuid} in it stands for the uuid of the invitation.',
  }),
  email: email({
    required: true,
    help: 'Where the mail is sent to. The invitation may be accepted with another address.',
  }),
  civil_number: text({ max: 50, help: 'When set, only a user with this civil number may accept.' }),
  project: link({ to: () => projects, key: ofProject('uuid'), nullable: true }),
  project_role: roleIn('project'),
  project_name: shownText(textValue(ofProject('name'))),
  customer: link({ to: () => customers, key: ofCustomer('uuid'), nullable: true }),
  customer_role: roleIn('customer'),
  customer_name: shownText(textValue(ofCustomer('name'))),
  state: shown('choice', { type: 'string', enum: states }, textValue),
  error_message: shownText(),
  created: shownTime(),
  expires: shownTime(),
};

/** Invitations to the customers that a filter on alias `c` finds, and to their projects. */
const toCustomers = (filter: Filter): Filter => ({
  ...filter,
  condition: (request, name) => {
    const condition = filter.condition(request, name);
    if (!condition) return undefined;
    const found = sql`SELECT c.id FROM customer c WHERE ${condition}`;
    return sql`i.customer_id IN (${found}) OR i.project_id IN (${projectsOf(found)})`;
  },
});

/** Owners see the invitations to their customers and to projects of these. */
function visible(caller: Caller): Sql {
  if (seesAll(caller)) return raw('TRUE');
  const owned = ownedCustomers(caller);
  return sql`i.customer_id IN (${owned}) OR i.project_id IN (${projectsOf(owned)})`;
}

export const invitations = collection<InvitationRow>()({
  path: 'user-invitations',
  kind: 'User Invitation',
  description: 'Invitations by mail to join a customer or a project.',
  table: 'invitation',
  alias: 'i',
  fields,
  visible,
  who: {
    read: 'Owners of the customer; staff and global support.',
    create:
      'Staff; owners without an end of their role, to a customer itself with the setting owners_can_manage_owners.',
  },
  filters: {
    customer: toCustomers(exactUuid('c.uuid', 'Uuid of the customer; invitations to its projects count, too.')),
    customer_url: toCustomers(linked('c.id', 'customer', () => customers)),
    project: uuidOf('i.project_id', 'project', 'Uuid of the project.'),
    project_url: linked('i.project_id', 'project', () => projects),
    state: oneOf('i.state', 'pending, accepted, canceled or expired.'),
    email: exact('i.email'),
    civil_number: exact('i.civil_number'),
    customer_role: exact('i.customer_role'),
    project_role: exact('i.project_role'),
  },
  examples: {
    create: {
      link_template: 'https://app.example.com/invitations/{uuid}/',
      email: 'dave@example.com',
      project: exampleLink('projects'),
      project_role: 'manager',
    },
  },
  described: ({ caller, db }) => isStaff(caller) || ownsSomeCustomer(db, caller, { endless: true }),
  orderings: { email: 'i.email COLLATE NOCASE', state: 'i.state', created: 'i.created' },
  order: '-i.created',
  create: {
    refusals: { 429: true },
    check: (request, values) => refuseWrong(request, values),
    mayWith: (request, values) =>
      values.project
        ? mayInvite(request, 'project', values.project)
        : mayInvite(request, 'customer', values.customer as number),
    run: (request, values) => {
      const { config, db, now } = request;
      const { customer, customer_role = null, project, project_role = null, ...rest } = values;
      const id = db.insert('invitation', {
        uuid: newUuid(request.deployment),
        ...rest,
        project_id: project ?? null,
        project_role,
        customer_id: customer ?? null,
        customer_role,
        created: now,
        created_by: request.caller.id,
        expires: now + config.invitation_lifetime,
      });
      queueMail(request, id);
      return id;
    },
  },
});

/** Rules across the fields of a new invitation, in the order of services.md 10.4. Throws 400. */
function refuseWrong({ config }: Request, values: Values<typeof fields>): void {
  const problem = linkTemplateProblem(values.link_template as string, config.link_template_hosts);
  if (problem !== undefined) throw invalid({ link_template: [problem] });
  const { customer, customer_role: customerRole, project, project_role: projectRole } = values;
  if (customer && project) throw invalidRequest('Cannot create invitation to project and customer simultaneously.');
  if (!customer && !project) throw invalidRequest('Customer or project must be provided.');
  if (!customer !== !customerRole) throw invalid({ customer_role: ['Customer and its role must be provided.'] });
  if (!project !== !projectRole) throw invalid({ project_role: ['Project and its role must be provided.'] });
}

/** Whether the caller may invite there: who may grant a role without an end (services.md 10.5). */
export const mayInvite = (request: Request, structure: Structure, scope: number): boolean =>
  mayManageUntil(request, structure, scope, null);

/** Ends a pending invitation; what has not been sent of it stays unsent. Must run inside a write. */
export function endInvitation(
  request: Pick<Request, 'deployment' | 'now'>,
  id: number,
  state: Exclude<State, 'pending'>,
): void {
  request.deployment.db.update('invitation', id, { state });
  cancelMails(request, id);
}
