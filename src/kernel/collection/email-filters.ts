import { emailForms } from '../db/email-address.ts';
import { any, contains, raw, type Sql, sql } from '../db/sql.ts';
import { exact, type Filter, partial } from './filter.ts';

/** The same filter by an address, whose domain may be written in either form. */
const byForms = (filter: Filter, condition: (form: string) => Sql): Filter => ({
  ...filter,
  condition: ({ query }, name) => {
    const value = query.one(name);
    return value === undefined ? undefined : any(emailForms(value).map(condition));
  },
});

/** A part of the address in a column, without case. */
export const partialEmail = (column: string): Filter => byForms(partial(column), (form) => contains(column, form));

/** The address in a column. */
export const exactEmail = (column: string): Filter => byForms(exact(column), (form) => sql`${raw(column)} = ${form}`);
