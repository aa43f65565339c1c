import type { Request } from '../../../kernel/access/request.ts';
import { caseFold, sql } from '../../../kernel/db/sql.ts';
import { acceptableValues } from '../../users/acceptable-values.ts';
import { samlRegistration, type UserRow } from '../../users/users.ts';
import { createMappedUser, type MappedTexts, mapAttributes, updateMappedUser } from '../sso/mapped-user.ts';

/**
 * Returns the active user for these attributes, after creating or updating it. Returns undefined if the user does not exist and
 * must not be created, cannot log in by SAML, or is inactive.
 */
export function userOfAttributes(request: Request, attributes: ReadonlyMap<string, string>): UserRow | undefined {
  const mapping = request.config.saml_attribute_mapping ?? {};
  const { username: name = '', ...texts } = mapAttributes(mapping, (attribute) => attributes.get(attribute));
  const username = acceptableName(request, name);
  if (username === undefined) return undefined;
  const user = request.db.get<UserRow>(sql`SELECT * FROM user WHERE username_folded = ${caseFold(username)}`);
  if (user) return updateFrom(request, user, texts);
  if (!request.config.saml_create_unknown_user) return undefined;
  return createMappedUser(request, username, texts, samlRegistration);
}

function updateFrom(request: Request, user: UserRow, texts: MappedTexts): UserRow | undefined {
  const isOwn = user.registration_method === samlRegistration || request.config.saml_link_existing_users;
  return isOwn && user.is_active && !user.is_service_account ? updateMappedUser(request, user, texts) : undefined;
}

/** Returns the username if it is valid, even if it is taken. */
function acceptableName(request: Request, username: string): string | undefined {
  const holder = request.db.value<number>(
    sql`SELECT id FROM user WHERE username_folded = ${caseFold(username.trim())}`,
  );
  return acceptableValues(request, { username }, holder).username;
}
