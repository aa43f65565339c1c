import { hour } from '../../kernel/clock.ts';
import { dueInstants } from '../../kernel/outbox/outcome.ts';
import type { StoredInstants } from '../../kernel/stored-instants.ts';
import { rotationOverlap } from './hooks-web.ts';

/** Excludes ready deliveries: their time does not matter any more, and the result of an attempt in progress is matched by it. */
const waiting = "status = 'pending' AND ready = 0";
/** Waits for the end of the hour, not for another attempt. */
const isGathered = 'gathered = 1 AND attempts = 0';

export const hookInstants: readonly StoredInstants[] = [
  { table: 'hook', column: 'failing_since', ahead: 0, countsRunning: true },
  { table: 'hook', column: 'old_secret_ends', ahead: rotationOverlap },
  { table: 'hook_confirmation', column: 'created', ahead: 0 },
  { table: 'delivery', column: 'next_attempt', ahead: hour, where: `${waiting} AND ${isGathered}` },
  dueInstants('delivery', waiting),
  { table: 'delivery', column: 'finished', ahead: 0 },
];
