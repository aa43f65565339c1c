import type { Deployment } from '../access/deployment.ts';

/** Fills an empty database; answers what to tell the operator. */
export async function demo(deployment: Deployment): Promise<string> {
  return `${deployment.db.writes}\n`;
}
