import { isStaff } from '../../kernel/access/caller.ts';
import type { Request } from '../../kernel/access/request.ts';
import { type Right, right, rightVia, visibleTo } from '../../kernel/access/right.ts';
import { ownsSomeCustomer, permanentlyOwnedCustomers } from '../../kernel/access/rights.ts';
import { randomUuid } from '../../kernel/app.ts';
import { collection, type Row } from '../../kernel/collection/collection.ts';
import { type NewValues, readOnly, readOnlyText, readOnlyTime, uuidField } from '../../kernel/collection/field.ts';
import {
  exact,
  exactEmail,
  exactUuid,
  type Filter,
  linked,
  oneOf,
  uuidOf,
  within,
} from '../../kernel/collection/filter.ts';
import { exampleLink } from '../../kernel/collection/json-schema.ts';
import { link, selfLink } from '../../kernel/collection/links.ts';
import { booleanValue, textValue } from '../../kernel/collection/representation.ts';
import { choice, email, orNull, text } from '../../kernel/collection/values.ts';
import type { Database } from '../../kernel/db/database.ts';
import { raw, sql } from '../../kernel/db/sql.ts';
import { invalid, invalidRequest } from '../../kernel/http/error.ts';
import { customers } from '../customers/customers.ts';
import { projectsOf, roleManagers } from '../permissions/permissions.ts';
import { projects } from '../projects/projects.ts';
import { type RoleScope, roleNames } from '../roles/roles.ts';
import type { UserRow } from '../users/users.ts';
import { linkTemplateProblem } from './link-template.ts';
import { cancelMails, isMailed, issueLink, queueMail } from './mails.ts';

type State = 'pending' | 'accepted' | 'canceled' | 'expired';

interface ToProject {
  readonly project_id: number;
  readonly project_role: string;
}

interface ToCustomer {
  readonly project_id: null;
  readonly customer_id: number;
  readonly customer_role: string;
}

/** An invitation is either to a project or to a customer. */
export type InvitationRow = Row &
  (ToProject | ToCustomer) & {
    readonly email: string;
    readonly civil_number: string;
    readonly state: State;
    /** The user who created or last sent it. */
    readonly inviter_id: number | null;
  };

/** The customer or project in the body of a new invitation. */
interface ScopeInput {
  readonly customer?: number | null;
  readonly project?: number | null;
}

/** The role that an invitation grants. */
interface Target {
  readonly structure: RoleScope;
  /** Id of the customer or project. */
  readonly scope: number;
  readonly role: string;
}

export const targetOf = (row: InvitationRow): Target =>
  row.project_id === null
    ? { structure: 'customer', scope: row.customer_id, role: row.customer_role }
    : { structure: 'project', scope: row.project_id, role: row.project_role };

const ofProject = (column: string): string => `(SELECT ${column} FROM project WHERE id = i.project_id)`;
/** SQL of a column of the customer, which for an invitation to a project is the project's customer. */
const ofCustomer = (column: string): string =>
  `(SELECT ${column} FROM customer WHERE id = ifnull(i.customer_id, ${ofProject('customer_id')}))`;

const roleIn = (structure: RoleScope) => orNull(choice({ choices: () => Object.entries(roleNames[structure]) }));
const states: readonly State[] = ['pending', 'accepted', 'canceled', 'expired'];

const fields = {
  url: selfLink('user-invitations', 'i.uuid'),
  uuid: uuidField(),
  link_template: text({
    max: 255,
    required: true,
    help: 'Link of the invitation. {uuid} is replaced with a secret, which accept and check accept instead of the uuid.',
  }),
  email: email({ required: true, help: 'Address of the mail. A user with another address may accept the invitation.' }),
  civil_number: text({ max: 50, help: 'If set, only a user with this civil number may accept.' }),
  project: link({ to: () => projects, key: ofProject('uuid'), nullable: true }),
  project_role: roleIn('project'),
  project_name: readOnlyText(textValue(ofProject('name'))),
  customer: link({ to: () => customers, key: ofCustomer('uuid'), nullable: true }),
  customer_role: roleIn('customer'),
  customer_name: readOnlyText(textValue(ofCustomer('name'))),
  state: readOnly('choice', { type: 'string', enum: states }, textValue),
  error_message: readOnlyText(),
  created: readOnlyTime(),
  expires: readOnlyTime(),
  link: readOnlyText(textValue('@link'), { shownIf: '@link IS NOT NULL' }),
  is_mailed: readOnly('boolean', { type: 'boolean' }, booleanValue('@mailed'), { shownIf: '@link IS NOT NULL' }),
};

/** Invitations to the customers that a filter on alias `c` selects, and to their projects. */
const toCustomers = (filter: Filter): Filter => ({
  ...filter,
  condition: (request, name) => {
    const condition = filter.condition(request, name);
    if (!condition) return undefined;
    const result = sql`SELECT c.id FROM customer c WHERE ${condition}`;
    return sql`i.customer_id IN (${result}) OR i.project_id IN (${projectsOf(result)})`;
  },
});

/** The right to invite: users who may grant a role without an expiry (services.md 10.5). */
export const inviters: Right<Pick<Target, 'structure' | 'scope'>> = right(
  'staff; owners without an end of their role, to a customer itself with the setting owners_can_manage_owners',
  (request, { scope, structure }) => roleManagers[structure].may(request, { scope, until: null }),
);

export const invitations = collection<InvitationRow>()({
  path: 'user-invitations',
  kind: 'User Invitation',
  description: 'Invitations by mail to join a customer or a project.',
  table: 'invitation',
  alias: 'i',
  // Paths may contain a secret from a mailed link instead of the uuid.
  hidesKey: true,
  fields,
  // Only the response to a creation has the link.
  parameters: () => ({ link: null, mailed: null }),
  // The same right as `inviters`, as a condition.
  visible: visibleTo(inviters.words, (caller, { owners_can_manage_owners: ownersInvite }) => {
    if (caller.isStaff) return raw('TRUE');
    const owned = permanentlyOwnedCustomers(caller);
    const toProjects = sql`i.project_id IN (${projectsOf(owned)})`;
    return ownersInvite ? sql`${toProjects} OR i.customer_id IN (${owned})` : toProjects;
  }),
  filters: {
    customer: toCustomers(exactUuid('c.uuid', 'Uuid of the customer. Includes invitations to its projects.')),
    customer_url: toCustomers(linked('c.id', 'customer', () => customers)),
    project: uuidOf('i.project_id', 'project', 'Uuid of the project.'),
    project_url: linked('i.project_id', 'project', () => projects),
    state: within(
      ['pending', 'accepted', 'canceled', 'expired'],
      oneOf('i.state', 'pending, accepted, canceled or expired.'),
    ),
    email: exactEmail('i.email'),
    civil_number: exact('i.civil_number'),
    customer_role: within(Object.keys(roleNames.customer), exact('i.customer_role')),
    project_role: within(Object.keys(roleNames.project), exact('i.project_role')),
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
    rejections: { 429: true },
    check: (request, values) => rejectInvalid(request, values),
    rightWith: rightVia(scopeOf, inviters),
    run: (request, _, columns) => {
      const { config, db, now } = request;
      const id = db.insert('invitation', {
        uuid: randomUuid(request.app),
        ...columns,
        created: now,
        inviter_id: request.caller.userId,
        expires: now + config.invitation_lifetime,
      });
      queueMail(request, id);
      return { id, parameters: { link: issueLink(request, id), mailed: Number(isMailed(request)) } };
    },
  },
});

/** Checks the rules across the fields of a new invitation, in the order of services.md 10.4. Throws 400. */
function rejectInvalid({ config }: Request, values: NewValues<typeof fields>): void {
  const problem = linkTemplateProblem(values.link_template, config);
  if (problem !== undefined) throw invalid({ link_template: [problem] });
  const { customer, customer_role: customerRole, project, project_role: projectRole } = values;
  if (customer && project) throw invalidRequest('Cannot create invitation to project and customer simultaneously.');
  if (!customer && !project) throw invalidRequest('Customer or project must be provided.');
  if (!customer !== !customerRole) throw invalid({ customer_role: ['Customer and its role must be provided.'] });
  if (!project !== !projectRole) throw invalid({ project_role: ['Project and its role must be provided.'] });
}

/** Returns the customer or project of a valid body. */
function scopeOf({ customer, project }: ScopeInput): Pick<Target, 'structure' | 'scope'> {
  if (project) return { structure: 'project', scope: project };
  if (customer) return { structure: 'customer', scope: customer };
  throw new Error('An invitation has no customer or project');
}

/** Returns the active user who created an invitation or sent it last. */
export const inviterOf = (db: Database, row: InvitationRow): UserRow | undefined =>
  db.get<UserRow>(sql`SELECT * FROM user WHERE id = ${row.inviter_id} AND is_active`);

/** Ends a pending invitation and cancels its unsent mails. Must run inside a write. */
export function endInvitation(
  request: Pick<Request, 'app' | 'now'>,
  id: number,
  state: Exclude<State, 'pending'>,
): void {
  request.app.db.update('invitation', id, { state });
  cancelMails(request, id);
}
