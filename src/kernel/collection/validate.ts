import type { Request } from '../access/request.ts';
import { raw, sql } from '../db/sql.ts';
import { invalid } from '../http/error.ts';
import {
  type Field,
  FieldError,
  type Fields,
  type Input,
  messages,
  type NewValues,
  requireShortList,
  type Values,
} from './field.ts';

/** The purpose of a body: creation, complete update (PUT), or partial update (PATCH). */
export type Purpose = 'create' | 'replace' | 'change';

/** Whether a caller may write a field for this purpose. Others are ignored. */
export function isWritable(field: Field, request: Request, purpose: Purpose): boolean {
  const { input } = field;
  if (!input) return false;
  if (purpose === 'create') return input.create;
  return typeof input.update === 'function' ? input.update(request.caller) : input.update;
}

/** Whether a body for this purpose must contain a field. */
export const isRequiredFor = (
  { isIncluded = false, required }: Pick<Input<unknown>, 'isIncluded' | 'required'>,
  purpose: Purpose,
): boolean => required && (purpose === 'create' || (purpose === 'replace' && !isIncluded));

/** The table with unique values, and the row that may keep its own. */
interface Unique {
  readonly table: string;
  readonly current?: number | undefined;
}

/**
 * Reads the writable fields of the body. Collects all field errors into one 400. Ignores unknown and read-only keys. `current` is
 * the id of the object being changed, which may keep its own unique values.
 */
export function validate<F extends Fields>(
  fields: F,
  request: Request,
  purpose: 'create',
  object?: Unique,
): NewValues<F>;
export function validate<F extends Fields>(fields: F, request: Request, purpose: Purpose, object?: Unique): Values<F>;
export function validate(
  fields: Fields,
  request: Request,
  purpose: Purpose,
  object?: Unique,
): Readonly<Record<string, unknown>> {
  const { values, form } = request.body(() => bareField(fields)?.[0]);
  const accepted: Record<string, unknown> = {};
  const errors: Record<string, readonly unknown[]> = {};
  for (const name in fields) {
    const field = fields[name];
    const input = field?.input;
    if (!input || !isWritable(field, request, purpose)) continue;
    try {
      requireShortList(values[name]);
      const passed = formValue(field, values[name], form);
      if (passed === undefined) {
        if (isRequiredFor(input, purpose)) throw new FieldError([input.missing ?? messages.required]);
        continue;
      }
      const value = input.parse(passed, request, form);
      if (object) rejectTaken(input, value, request, object);
      accepted[name] = value;
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      errors[name] = error.messages;
    }
  }
  const rejection = { ...errors, ...request.unknownNames?.() };
  if (Object.keys(rejection).length > 0) throw invalid(rejection);
  return accepted;
}

/** Returns the field that a body may contain as a bare list. */
export const bareField = (fields: Fields): readonly [string, Field] | undefined =>
  Object.entries(fields).find(([, { input }]) => input?.canBeBareList);

/** Returns the last value of a repeated form field that is not a list. */
function formValue(field: Field, value: unknown, form: boolean): unknown {
  return form && Array.isArray(value) && field.type !== 'list' ? value.at(-1) : value;
}

/** Throws FieldError if another object has the value of a unique field. */
export function rejectTaken<T>({ unique }: Pick<Input<T>, 'unique'>, value: T, request: Request, object: Unique): void {
  if (!unique || value === null || value === '') return;
  const stored = unique.of(value, request);
  const within = unique.within?.(request, object.current) ?? raw('TRUE');
  const column = raw(unique.column);
  // The empty text may occur repeatedly, so indexes of some columns leave it out: SQLite uses them only with this condition.
  const taken = request.db.value(sql`SELECT 1 FROM ${raw(object.table)}
    WHERE ${column} = ${stored} AND ${column} <> '' AND id IS NOT ${object.current ?? null} AND ${within}`);
  if (taken !== undefined) throw new FieldError([unique.message(value)]);
}
