import type { Request } from '../../kernel/access/request.ts';
import { FieldError, type Fields } from '../../kernel/collection/field.ts';
import { rejectTaken } from '../../kernel/collection/validate.ts';
import { type UserValues, userFields } from './user-fields.ts';

/**
 * Returns the values, by field name, that the rules of POST /api/users/ accept, and omits the others. `current` is the user to
 * update, whose own unique values are acceptable.
 */
export function acceptableValues(
  request: Request,
  texts: Readonly<Partial<Record<keyof typeof userFields, string>>>,
  current?: number,
): UserValues;
export function acceptableValues(
  request: Request,
  texts: Readonly<Record<string, string>>,
  current?: number,
): Readonly<Record<string, unknown>> {
  const known: Fields = userFields;
  const accepted = Object.entries(texts).flatMap(([name, text]) => {
    const input = known[name]?.input;
    if (!input) return [];
    try {
      const value = input.parse(text, request, false);
      rejectTaken(input, value, request, { table: 'user', current });
      return [[name, value]];
    } catch (error) {
      if (error instanceof FieldError) return [];
      throw error;
    }
  });
  return Object.fromEntries(accepted);
}
