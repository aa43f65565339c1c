/** Throws with a sentence when a newer program wrote a database with this `user_version`, or none did. */
export function rejectNewer(version: number, newest: number): void {
  if (version < 0) throw new Error(`The database has schema ${version}, which no version has: it is damaged`);
  if (version > newest)
    throw new Error(`The database has schema ${version}, newer than this version's ${newest}: use a newer Tenantry`);
}
