/** Scheduled backups and the lease with object stores that others have written. */

import { startMoto } from '../moto/server.ts';
import type { Steps } from '../steps.ts';
import { Backups } from './backups.ts';
import type { Store } from './bucket.ts';
import { leaseSteps } from './lease.ts';
import { startVersityGateway } from './versitygw.ts';

const environment = { AWS_ACCESS_KEY_ID: 'tenantry', AWS_SECRET_ACCESS_KEY: 'tenantry-secret' };

/** Runs all steps with each store. */
export async function objects(steps: Steps): Promise<void> {
  const moto = await steps.step('moto is installed and starts', startMoto);
  try {
    await exercise(steps, { name: 'moto', url: moto.url, environment, verifiesSignatures: false });
  } finally {
    await moto.end();
  }
  const gateway = await steps.step('versitygw is built and starts', () => startVersityGateway(environment));
  try {
    await exercise(steps, { name: 'versitygw', url: gateway.url, environment, verifiesSignatures: true });
  } finally {
    await gateway.end();
  }
}

async function exercise(steps: Steps, store: Store): Promise<void> {
  const backups = await Backups.prepare(store);
  try {
    await backups.run(steps);
  } finally {
    await backups.end();
  }
  await leaseSteps(steps, store);
}
