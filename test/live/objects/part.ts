/** Scheduled backups and the lease, with third-party object stores. */
import type { Steps } from '../steps.ts';
import { Backups } from './backups.ts';
import type { Store } from './bucket.ts';
import { leaseSteps } from './lease.ts';
import { stores } from './stores.ts';

/** Runs all steps with each store. */
export async function objects(steps: Steps): Promise<void> {
  for (const [name, start] of Object.entries(stores)) {
    const store = await steps.step(`${name} is installed and starts`, start);
    try {
      await exercise(steps, store);
    } finally {
      await store.end();
    }
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
