import { emailForms } from '../db/email-address.ts';
import { any, contains, raw, type Sql, sql } from '../db/sql.ts';
import { exact, type Filter, partial } from './filter.ts';

/** Extends a filter by email address to both forms of the domain. */
const byForms = (filter: Filter, condition: (form: string) => Sql): Filter => ({
  ...filter,
  condition: ({ query }, name) => {
    const value = query.one(name);
    return value === undefined ? undefined : any(emailForms(value).map(condition));
  },
});

/** Filters by a case-insensitive substring of an email address in a column. */
export const partialEmail = (column: string): Filter => byForms(partial(column), (form) => contains(column, form));

/** Filters by the exact email address in a column. */
export const exactEmail = (column: string): Filter => byForms(exact(column), (form) => sql`${raw(column)} = ${form}`);
