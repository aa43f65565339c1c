/** What programs in other processes import: they cannot load TypeScript. */
export { Database } from '../../../src/kernel/db/database.ts';
