import { affectedUser } from '../../../activity/events/context.ts';
import { record } from '../../../activity/events/record.ts';
import type { Request } from '../../../kernel/access/request.ts';
import { caseFold, sql } from '../../../kernel/db/sql.ts';
import { acceptableValues } from '../../users/acceptable-values.ts';
import { verifyEmail } from '../../users/email.ts';
import { actedBy, insertUser, samlRegistration, type UserRow, updateUser, userOf } from '../../users/users.ts';
import { type AttributeMapping, type MappedField, mappedFields } from './config.ts';

const method = samlRegistration;

/**
 * Returns the active user that these attributes describe; creates or updates it. Returns undefined if the user does not exist and
 * must not be created, cannot log in by SAML, or is inactive.
 */
export function userOfAttributes(request: Request, attributes: ReadonlyMap<string, string>): UserRow | undefined {
  const { username: name = '', ...texts } = mapAttributes(request.config.saml_attribute_mapping ?? {}, attributes);
  const username = acceptableName(request, name);
  if (username === undefined) return undefined;
  const user = request.db.get<UserRow>(sql`SELECT * FROM user WHERE username_folded = ${caseFold(username)}`);
  if (user) return updateFrom(request, user, texts);
  if (!request.config.saml_create_unknown_user) return undefined;
  const created = insertUser(request, { ...acceptableValues(request, texts), username }, method);
  record(actedBy(request, created), 'user_creation_succeeded', affectedUser(created));
  return created;
}

function updateFrom(request: Request, user: UserRow, texts: Texts): UserRow | undefined {
  const isOwn = user.registration_method === method || request.config.saml_link_existing_users;
  if (!isOwn || !user.is_active || user.is_service_account) return undefined;
  const values = acceptableValues(request, texts, user.id);
  updateUser(actedBy(request, user), user, values, true);
  if (values.email === user.email) verifyEmail(request, user.id);
  return userOf(request, user.id);
}

type Texts = Partial<Record<MappedField, string>>;

function mapAttributes(mapping: AttributeMapping, attributes: ReadonlyMap<string, string>): Texts {
  const texts: Texts = {};
  for (const [attribute, fields] of Object.entries(mapping)) {
    const value = attributes.get(attribute);
    if (value === undefined) continue;
    for (const field of mappedFields) if (fields.includes(field)) texts[field] = value;
  }
  return texts;
}

/** Returns the username if it is valid, whether or not a user has it. */
function acceptableName(request: Request, username: string): string | undefined {
  const holder = request.db.value<number>(
    sql`SELECT id FROM user WHERE username_folded = ${caseFold(username.trim())}`,
  );
  return acceptableValues(request, { username }, holder).username;
}
