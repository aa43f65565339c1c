import type { Deployment } from '../access/deployment.ts';
import { raw } from '../db/sql.ts';
import { findDrift, repairDrift } from '../quotas/recount.ts';

/** What an examination found. */
export interface Diagnosis {
  /** One line each; empty when all is well. */
  readonly problems: readonly string[];
  /** Whether everything found was repaired. */
  readonly isHealthy: boolean;
}

/** Examines the database file, its references and the counted quotas; with `repair` sets drifted quotas right. */
export function examine(deployment: Deployment, repair: boolean): Diagnosis {
  const { db } = deployment;
  const damage = db.values<string>(raw('PRAGMA integrity_check(20)')).filter((line) => line !== 'ok');
  const dangling = db.all<{ table: string; rowid: number; parent: string }>(raw('PRAGMA foreign_key_check'));
  const drifts = findDrift(deployment);
  if (repair && drifts.length > 0) {
    repairDrift(deployment, drifts);
    db.commit();
  }
  const problems = [
    ...damage.map((line) => `database: ${line}`),
    ...dangling.slice(0, 20).map(({ parent, rowid, table }) => `database: row ${rowid} of ${table} refers to a missing ${parent}`),
    ...drifts.map(({ counted, quota }) =>
      `quota ${quota.name} of ${quota.scope_kind} ${quota.scope_id}: usage ${quota.usage}, counted ${counted}${repair ? ', repaired' : ''}`),
  ];
  return { problems, isHealthy: damage.length === 0 && dangling.length === 0 && (repair || drifts.length === 0) };
}
