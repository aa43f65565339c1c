import type { Database } from '../../kernel/db/database.ts';
import { sql } from '../../kernel/db/sql.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';

/** Types of service settings in the database that a catalogue does not have: they could not be represented. */
export const unknownTypes = (db: Database, { types }: Catalogue): string[] =>
  db
    .values<string>(sql`SELECT DISTINCT type FROM service_settings ORDER BY type`)
    .filter((name) => !types.some((type) => type.name === name));
