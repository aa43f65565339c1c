/** What programs in other processes import: they cannot load TypeScript. */
export { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
