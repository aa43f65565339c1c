import { hour } from '../../kernel/clock.ts';
import { dueInstants } from '../../kernel/outbox/outcome.ts';
import type { StoredInstants } from '../../kernel/stored-instants.ts';
import { rotationOverlap } from './hooks-web.ts';

/** Ready ones are sent whatever their instant says, and must keep it: the result of an attempt under way finds them by it. */
const waiting = "status = 'pending' AND ready = 0";
/** For the end of an hour, not for another attempt. */
const isGathered = 'gathered = 1 AND attempts = 0';

export const hookInstants: readonly StoredInstants[] = [
  { table: 'hook', column: 'failing_since', ahead: 0, countsRunning: true },
  { table: 'hook', column: 'old_secret_ends', ahead: rotationOverlap },
  { table: 'hook_confirmation', column: 'created', ahead: 0 },
  { table: 'delivery', column: 'next_attempt', ahead: hour, where: `${waiting} AND ${isGathered}` },
  dueInstants('delivery', waiting),
  { table: 'delivery', column: 'finished', ahead: 0 },
];
