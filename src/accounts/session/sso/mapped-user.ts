/** Creates and updates users from attributes or claims of an identity provider (services.md 11). */
import { affectedUser } from '../../../activity/events/context.ts';
import { record } from '../../../activity/events/record.ts';
import type { Request } from '../../../kernel/access/request.ts';
import { acceptableValues } from '../../users/acceptable-values.ts';
import { verifyEmail } from '../../users/email.ts';
import { actedBy, insertUser, type UserRow, updateUser, userOf } from '../../users/users.ts';
import { type AttributeMapping, type MappedField, mappedFields } from './mapping.ts';

/** Texts from an identity provider by user field. */
export type MappedTexts = Partial<Record<MappedField, string>>;

/** Returns the texts for the fields of a user. */
export function mapAttributes(
  mapping: AttributeMapping,
  textOf: (attribute: string) => string | undefined,
): MappedTexts {
  const texts: MappedTexts = {};
  for (const [attribute, fields] of Object.entries(mapping)) {
    const value = textOf(attribute);
    if (value === undefined) continue;
    for (const field of mappedFields) if (fields.includes(field)) texts[field] = value;
  }
  return texts;
}

/** Creates a user without a password. Omits invalid values and an email address of another user. */
export function createMappedUser(
  request: Request,
  username: string,
  texts: Omit<MappedTexts, 'username'>,
  registration: string,
): UserRow {
  const created = insertUser(request, { ...acceptableValues(request, texts), username }, registration);
  record(actedBy(request, created), 'user_creation_succeeded', affectedUser(created));
  return userOf(request, created.id);
}

/** Stores changed values of a user, with the same omissions as `createMappedUser`. An email address counts as verified. */
export function updateMappedUser(request: Request, user: UserRow, texts: Omit<MappedTexts, 'username'>): UserRow {
  const values = acceptableValues(request, texts, user.id);
  updateUser(actedBy(request, user), user, values, true);
  if (values.email === user.email) verifyEmail(request, user.id);
  return userOf(request, user.id);
}
