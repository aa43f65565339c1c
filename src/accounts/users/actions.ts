import * as v from 'valibot';
import type { EventTypeName } from '../../activity/events/catalogue.ts';
import { affectedUser } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import type { Request } from '../../kernel/access/request.ts';
import { revokeTokensOf } from '../../kernel/access/tokens.ts';
import { describeFields, type Endpoint, type Operation } from '../../kernel/collection/endpoint.ts';
import { check, type Field, FieldError, type Fields, messageShape, messages } from '../../kernel/collection/field.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { text } from '../../kernel/collection/values.ts';
import { sql } from '../../kernel/db/sql.ts';
import { conflict, forbidden } from '../../kernel/http/error.ts';
import { json } from '../../kernel/http/reply.ts';
import { type UserRow, users } from './users.ts';

const rules = v.pipe(
  v.string(messages.string),
  v.check((password) => /\d/.test(password), 'Ensure this field has at least one digit.'),
  v.check((password) => /[a-z]/i.test(password), 'Ensure this field has at least one latin letter.'),
  v.check((password) => [...password].length >= 7, 'Ensure this field has at least 7 characters.'),
);

/** A new password: not trimmed; all broken rules are told, in this order (core.md 4.4). */
export const passwordField: Field<string> = {
  type: 'string',
  help: 'At least 7 characters, with a digit and a latin letter.',
  facts: { min_length: 7 },
  shape: { type: 'string', examples: ['correct-horse-1'] },
  input: {
    schema: v.pipe(v.string(), v.minLength(7)),
    nullable: false,
    required: true,
    create: true,
    update: true,
    parse: (value) => {
      if (value === null) throw new FieldError([messages.null]);
      if (value === '') throw new FieldError([messages.blank]);
      return check(rules, typeof value === 'number' ? String(value) : value);
    },
  },
};

const passwordInput = { password: passwordField };
const claimInput = { organization: text({ max: 80, required: true, example: 'ALC' }) };

const isSelfOrStaff = ({ caller }: Request, target: UserRow): boolean => caller.isStaff || caller.id === target.id;

/** Whether the caller has a role in the one customer whose abbreviation is the target's organization (core.md 4.3 "member"). */
function isMember({ caller, db }: Request, target: UserRow): boolean {
  if (target.organization === '') return false;
  const named = db.values<number>(sql`SELECT id FROM customer WHERE abbreviation = ${target.organization} LIMIT 2`);
  return (
    named.length === 1 &&
    db.value(sql`SELECT 1 FROM customer_role
    WHERE customer_id = ${named[0] as number} AND user_id = ${caller.id} AND ended IS NULL`) !== undefined
  );
}

const mayDecide = (request: Request, target: UserRow): boolean => request.caller.isStaff || isMember(request, target);
const mayLeave = (request: Request, target: UserRow): boolean =>
  mayDecide(request, target) || (request.caller.id === target.id && !target.organization_approved);

type Right = (request: Request, target: UserRow) => boolean;

/** The target of an action the caller may take. Throws 404, 403. */
function target(request: Request, may: Right): UserRow {
  const row = users.find(request);
  if (!may(request, row)) throw forbidden();
  return row;
}

const answer = { status: 200, shape: messageShape };

function action(
  name: string,
  summary: string,
  who: string,
  may: Right,
  fields: Fields | undefined,
  operation: Pick<Operation, 'handle' | 'prepare'>,
): Endpoint {
  return {
    path: `/api/users/:key/${name}/`,
    name: `User ${name
      .split('_')
      .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
      .join(' ')}`,
    description: summary,
    actions: (request) => {
      const row = users.find(request);
      return may(request, row) ? { POST: fields ? describeFields(fields, request, 'create') : {} } : undefined;
    },
    operations: {
      POST: {
        summary,
        who,
        ...(fields && { input: { fields, purpose: 'create' as const } }),
        output: answer,
        ...operation,
      },
    },
  };
}

/** Sets organization and its approval, with the events of the change and of the action; `told` is the name it tells. */
function setOrganization(
  request: Request,
  row: UserRow,
  organization: string,
  approved: boolean,
  event: EventTypeName,
  told: string,
): void {
  if (row.organization !== organization || Boolean(row.organization_approved) !== approved) {
    request.db.update('user', row.id, { organization, organization_approved: Number(approved) });
    record(request, 'user_update_succeeded', affectedUser(row));
  }
  record(request, event, { ...affectedUser(row), affected_organization: told });
}

const setPassword = action(
  'password',
  'Sets a password.',
  'The user himself, and staff.',
  isSelfOrStaff,
  passwordInput,
  {
    prepare: (request) => {
      target(request, isSelfOrStaff);
      const { password } = validate(passwordInput, request, 'create');
      return request.deployment.passwords.hash(password as string);
    },
    handle: (request: Request, hash: string) => {
      const row = target(request, isSelfOrStaff);
      request.db.update('user', row.id, { password_hash: hash });
      revokeTokensOf(request, row.id, request.caller.tokenId);
      record(request, 'user_password_updated', affectedUser(row));
      request.deployment.passwordChanged(row.username);
      return json({ detail: 'Password has been successfully updated.' });
    },
  },
);

const claim = action(
  'claim_organization',
  'Asks to join an organization. Deprecated.',
  'The user himself, and staff.',
  isSelfOrStaff,
  claimInput,
  {
    handle: (request) => {
      const row = target(request, isSelfOrStaff);
      const { organization } = validate(claimInput, request, 'create');
      if (row.organization_approved)
        throw conflict('User has approved organization. Remove it before claiming a new one.');
      setOrganization(request, row, organization as string, false, 'user_organization_claimed', organization as string);
      return json({ detail: 'User request for joining the organization has been successfully submitted.' });
    },
  },
);

const approve = action(
  'approve_organization',
  "Approves a user's organization. Deprecated.",
  'Staff; members of that customer.',
  mayDecide,
  undefined,
  {
    handle: (request) => {
      const row = target(request, mayDecide);
      setOrganization(request, row, row.organization, true, 'user_organization_approved', row.organization);
      return json({ detail: 'User request for joining the organization has been successfully approved.' });
    },
  },
);

const reject = action(
  'reject_organization',
  "Rejects a user's organization. Deprecated.",
  'Staff; members of that customer.',
  mayDecide,
  undefined,
  {
    handle: (request) => {
      const row = target(request, mayDecide);
      setOrganization(request, row, '', false, 'user_organization_rejected', row.organization);
      return json({ detail: 'User has been successfully rejected from the organization.' });
    },
  },
);

const remove = action(
  'remove_organization',
  'Removes a user from his organization. Deprecated.',
  'Staff; members of that customer; the user himself while not approved.',
  mayLeave,
  undefined,
  {
    handle: (request) => {
      const row = target(request, mayLeave);
      setOrganization(request, row, '', false, 'user_organization_removed', row.organization);
      return json({ detail: 'User has been successfully removed from the organization.' });
    },
  },
);

/** The actions on a user (core.md 4.4). */
export const userActions: readonly Endpoint[] = [setPassword, claim, approve, reject, remove];
