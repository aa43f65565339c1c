/** Exports for programs in other processes, which cannot load TypeScript. */
export { SqliteDatabase } from '../../../src/kernel/db/sqlite-database.ts';
