/** Users, the actions on them, and their keys (core.md 4, 5). */
import { isMember, toOwner, type User } from '../model.ts';
import { type Attempt, bad, conflict, forbidden, type Reader, type Reply, reject, text, truth } from './attempt.ts';
import { forgetRoles } from './roles.ts';
import { representation } from './shown.ts';

const username: Reader = (value, attempt) => {
  const name = text(30, { blank: false })(value, attempt) as string;
  if (!/^[a-z0-9]+$/i.test(name)) bad('Enter a valid username.');
  return attempt.state.users.has(name.toLowerCase()) ? bad('user with this username already exists.') : name;
};

/** Only true accepts the policy; other values cause no separate error. */
const yes: Reader = (value) => value === true;

/** Only staff may write these; in bodies of others they are ignored without validation. */
const byStaff = { is_staff: truth, is_active: truth, is_support: truth };

export function createUser(attempt: Attempt): Reply {
  const { state, caller } = attempt;
  attempt.need(toOwner(caller, ''));
  const values = attempt.read({ username, full_name: text(100), organization: text(80), ...byStaff }, ['username']) as {
    [name: string]: never;
  };
  const id: string = values.username as never;
  const {
    is_staff: staff = false,
    is_active: active = true,
    is_support: support = false,
    full_name: fullName = '',
    organization = '',
  } = values;
  state.users.set(id, {
    id,
    fullName,
    organization,
    approved: false,
    staff,
    support,
    active,
    agreed: false,
    token: active ? 'valid' : 'none',
  });
  attempt.happens('user_creation_succeeded', id);
  return { status: 201, created: id, object: representation(state, caller, 'users', id) };
}

export function updateUser(attempt: Attempt): Reply {
  const { state, caller } = attempt;
  const user = state.users.get(attempt.see('users')) as User;
  const viewer = { ...caller };
  attempt.need(toOwner(caller, user.id));
  const readers = {
    full_name: text(100),
    organization: text(80),
    agree_with_policy: yes,
    ...(caller.staff ? byStaff : {}),
  };
  const values = attempt.read(readers) as { [name: string]: never };
  if (user === caller && !user.agreed && !values.agree_with_policy) {
    reject(400, { agree_with_policy: ['User must agree with the policy.'] });
  }
  const before = { ...user };
  if (values.organization !== undefined && values.organization !== user.organization) user.approved = false;
  user.fullName = values.full_name ?? user.fullName;
  user.organization = values.organization ?? user.organization;
  user.staff = values.is_staff ?? user.staff;
  user.support = values.is_support ?? user.support;
  user.active = values.is_active ?? user.active;
  user.agreed ||= values.agree_with_policy ?? false;
  if (user.active !== before.active) {
    attempt.happens(user.active ? 'user_activated' : 'user_deactivated', user.id);
    if (!user.active && user.token === 'valid') user.token = 'revoked';
  }
  const fields = ['fullName', 'organization', 'approved', 'staff', 'support', 'agreed'] as const;
  if (fields.some((name) => user[name] !== before[name])) attempt.happens('user_update_succeeded', user.id);
  return { status: 200, object: representation(state, viewer, 'users', user.id) };
}

export function deleteUser(attempt: Attempt): Reply {
  const { state, caller } = attempt;
  const id = attempt.see('users');
  attempt.need(toOwner(caller, id));
  for (const key of [...state.keys.values()].filter(({ owner }) => owner === id)) forgetKey(attempt, key.id);
  forgetRoles(attempt, ({ user }) => user === id);
  for (const role of state.roles.values()) if (role.author === id) role.author = null;
  state.users.delete(id);
  attempt.happens('user_deletion_succeeded', id);
  return { status: 204 };
}

const password: Reader = (value) => {
  if (value === null) return bad('This field may not be null.');
  if (value === '') return bad('This field may not be blank.');
  return /\d/.test(value as string) ? value : bad('Ensure this field has at least one digit.');
};

export function setPassword(attempt: Attempt): Reply {
  const user = attempt.state.users.get(attempt.see('users')) as User;
  attempt.need(toOwner(attempt.caller, user.id));
  attempt.read({ password }, ['password']);
  if (user !== attempt.caller && user.token === 'valid') user.token = 'revoked';
  attempt.happens('user_password_updated', user.id);
  return { status: 200, body: { detail: 'Password has been successfully updated.' } };
}

export function claimOrganization(attempt: Attempt): Reply {
  const user = attempt.state.users.get(attempt.see('users')) as User;
  attempt.need(toOwner(attempt.caller, user.id));
  const { organization } = attempt.read({ organization: text(80, { blank: false }) }, ['organization']) as {
    organization: string;
  };
  if (user.approved) conflict('User has approved organization. Remove it before claiming a new one.');
  belong(attempt, user, organization, false, 'user_organization_claimed');
  return {
    status: 200,
    body: { detail: 'User request for joining the organization has been successfully submitted.' },
  };
}

export function approveOrganization(attempt: Attempt): Reply {
  const user = decidable(attempt);
  belong(attempt, user, user.organization, true, 'user_organization_approved');
  return { status: 200, body: { detail: 'User request for joining the organization has been successfully approved.' } };
}

export function rejectOrganization(attempt: Attempt): Reply {
  belong(attempt, decidable(attempt), '', false, 'user_organization_rejected');
  return { status: 200, body: { detail: 'User has been successfully rejected from the organization.' } };
}

export function removeOrganization(attempt: Attempt): Reply {
  belong(
    attempt,
    decidable(attempt, (user) => user === attempt.caller && !user.approved),
    '',
    false,
    'user_organization_removed',
  );
  return { status: 200, body: { detail: 'User has been successfully removed from the organization.' } };
}

function decidable(attempt: Attempt, orElse: (user: User) => boolean = () => false): User {
  const { state, caller } = attempt;
  const user = state.users.get(attempt.see('users')) as User;
  return caller.staff || isMember(state, caller, user) || orElse(user) ? user : forbidden();
}

function belong(attempt: Attempt, user: User, organization: string, approved: boolean, event: string): void {
  const changes = user.organization !== organization || user.approved !== approved;
  Object.assign(user, { organization, approved });
  if (changes) attempt.happens('user_update_succeeded', user.id);
  attempt.happens(event, user.id);
}

const publicKey: Reader = (value, attempt) => {
  const line = text(2000, { blank: false })(value, attempt) as string;
  const [, content] = line.split(' ');
  if (content === undefined || content.length < 60) return bad('Invalid SSH public key.');
  const owned = [...attempt.state.keys.values()].filter(({ owner }) => owner === attempt.caller.id);
  return owned.some((key) => key.content === content) ? bad('Key with same fingerprint already exists.') : line;
};

export function createKey(attempt: Attempt): Reply {
  const { state, caller, call } = attempt;
  const values = attempt.read({ name: text(150), public_key: publicKey }, ['public_key']) as {
    name?: string;
    public_key: string;
  };
  const [, content = '', comment = ''] = values.public_key.split(' ');
  const isTaken = (name: string): boolean =>
    name !== '' && [...state.keys.values()].some((key) => key.owner === caller.id && key.name === name);
  if (values.name && isTaken(values.name)) reject(400, { name: ['This field must be unique.'] });
  let name = values.name || comment;
  for (let number = 2; isTaken(name); number++) name = `${comment} ${number}`;
  const id = `k${call.at}`;
  state.keys.set(id, { id, owner: caller.id, name, content });
  attempt.happens('ssh_key_creation_succeeded', id);
  return { status: 201, created: id, object: representation(state, caller, 'keys', id) };
}

export function deleteKey(attempt: Attempt): Reply {
  const { state, caller } = attempt;
  const id = attempt.see('keys');
  attempt.need(toOwner(caller, state.keys.get(id)?.owner as string));
  forgetKey(attempt, id);
  return { status: 204 };
}

/** The event of a key names its owner instead of the actor. */
function forgetKey(attempt: Attempt, id: string): void {
  attempt.events.push(`ssh_key_deletion_succeeded ${id} by ${attempt.state.keys.get(id)?.owner}`);
  attempt.state.keys.delete(id);
}
