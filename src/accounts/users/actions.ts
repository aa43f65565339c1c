import type { EventTypeName } from '../../activity/events/catalogue.ts';
import { affectedUser } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import { callerId } from '../../kernel/access/caller.ts';
import type { Context } from '../../kernel/access/context.ts';
import type { Request } from '../../kernel/access/request.ts';
import { anyOf, right, staff } from '../../kernel/access/right.ts';
import { customersWithRole } from '../../kernel/access/visibility.ts';
import { action } from '../../kernel/collection/action.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { messageShape } from '../../kernel/collection/field.ts';
import { text } from '../../kernel/collection/values.ts';
import { sql } from '../../kernel/db/sql.ts';
import { invalid } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { present } from '../../kernel/present.ts';
import { revokeTokensOf } from '../../kernel/security/tokens.ts';
import { notifyNewPassword } from './notices.ts';
import {
  currentPasswordField,
  missingCurrent,
  needsCurrentPassword,
  passwordField,
  verifyCurrent,
  weaknessMessages,
} from './passwords.ts';
import { selfOrStaff, serviceAccountReason, type UserRow, users } from './users.ts';

/** Members of the customer whose abbreviation is the user's organization, if unique (core.md 4.3 "member"). */
const members = right('members of that customer', ({ caller, db }, { organization }: UserRow) => {
  if (organization === '') return false;
  const [named, another] = db.values<number>(sql`
    SELECT id FROM customer WHERE abbreviation = ${organization} AND abbreviation <> '' LIMIT 2`);
  if (named === undefined || another !== undefined) return false;
  const role = sql`${customersWithRole(callerId(caller))} AND customer_id = ${named}`;
  return db.value(role) !== undefined;
});

/** The user themselves until the organization is approved. */
const claimants = right(
  'the user themselves while not approved',
  ({ caller }, user: UserRow) => caller.userId === user.id && !user.organization_approved,
);

const deciders = anyOf(staff, members);

/** Sets the organization and its approval. Records the events of the change and of the action with `organizationInEvent`. */
function setOrganization(
  request: Request,
  row: UserRow,
  organization: string,
  approved: boolean,
  event: EventTypeName,
  organizationInEvent: string,
): void {
  if (row.organization !== organization || Boolean(row.organization_approved) !== approved) {
    request.db.update('user', row.id, { organization, organization_approved: Number(approved) });
    record(request, 'user_update_succeeded', affectedUser(row));
  }
  record(request, event, { ...affectedUser(row), affected_organization: organizationInEvent });
}

declare module '../../kernel/app.ts' {
  interface App {
    /** Called after a user's password has changed. */
    readonly passwordChanged: (username: string) => void;
  }
}

/**
 * Stores a hashed password, queues the mail, records the event and revokes every token except `exceptToken` (core.md 4.4, 4.6).
 * `user` is the row before the change, although the same operation may already have verified its email.
 */
export function changePassword(context: Context, user: UserRow, hash: string, exceptToken?: number | null): void {
  const { app } = context;
  app.db.update('user', user.id, { password_hash: hash });
  revokeTokensOf(context, user.id, exceptToken);
  // End pending logins with the old password.
  app.db.run(sql`DELETE FROM pending_login WHERE user_id = ${user.id}`);
  notifyNewPassword(context, user);
  record(context, 'user_password_updated', affectedUser(user));
  app.passwordChanged(user.username);
}

/** The common part of all actions on a user. */
const onUser = { on: users, denialReason: serviceAccountReason, output: { status: 200, shape: messageShape } };

const setPassword = action({
  ...onUser,
  name: 'password',
  summary: 'Sets a password.',
  right: selfOrStaff,
  fields: { password: passwordField, current_password: currentPasswordField },
  rejections: { 503: true },
  accept: (request, row, { current_password: current, password }) => {
    const reports = {
      password: weaknessMessages(request.config, password, row),
      current_password: missingCurrent(request, row, current),
    };
    const errors = Object.entries(reports).filter(([, messages]) => messages.length > 0);
    if (errors.length > 0) throw invalid(Object.fromEntries(errors));
    return { current, password };
  },
  prepare: async (request, row, { current, password }) => {
    if (needsCurrentPassword(request, row)) await verifyCurrent(request, row, present(current));
    return request.app.passwords.hash(password, request.address);
  },
  run: (request, row, _, hash) => {
    changePassword(request, row, hash, request.caller.tokenId);
    return json({ detail: 'Password has been successfully updated.' });
  },
});

const claim = action({
  ...onUser,
  name: 'claim_organization',
  summary: 'Requests to join an organization. Deprecated.',
  right: selfOrStaff,
  fields: { organization: text({ max: 80, required: true, example: 'ALC' }) },
  denialReason: (request, row) =>
    serviceAccountReason(request, row) ??
    (row.organization_approved ? 'User has approved organization. Remove it before claiming a new one.' : undefined),
  run: (request, row, { organization }) => {
    setOrganization(request, row, organization, false, 'user_organization_claimed', organization);
    return json({ detail: 'User request for joining the organization has been successfully submitted.' });
  },
});

const approve = action({
  ...onUser,
  name: 'approve_organization',
  summary: "Approves a user's organization. Deprecated.",
  right: deciders,
  run: (request, row) => {
    setOrganization(request, row, row.organization, true, 'user_organization_approved', row.organization);
    return json({ detail: 'User request for joining the organization has been successfully approved.' });
  },
});

const reject = action({
  ...onUser,
  name: 'reject_organization',
  summary: "Rejects a user's organization. Deprecated.",
  right: deciders,
  run: (request, row) => {
    setOrganization(request, row, '', false, 'user_organization_rejected', row.organization);
    return json({ detail: 'User has been successfully rejected from the organization.' });
  },
});

const remove = action({
  ...onUser,
  name: 'remove_organization',
  summary: 'Removes a user from their organization. Deprecated.',
  right: anyOf(staff, members, claimants),
  run: (request, row) => {
    setOrganization(request, row, '', false, 'user_organization_removed', row.organization);
    return json({ detail: 'User has been successfully removed from the organization.' });
  },
});

/** The actions on a user (core.md 4.4). */
export const userActions: readonly Endpoint[] = [setPassword, claim, approve, reject, remove].map(
  ({ endpoint }) => endpoint,
);
