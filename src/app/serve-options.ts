import { readFileSync } from 'node:fs';
import { type Clock, settableClock, systemClock } from '../kernel/clock.ts';
import { errorOf } from '../kernel/present.ts';
import { type Arguments, UsageError } from './command-line.ts';
import type { ServerOptions } from './server.ts';

/** The options of `tenantry serve` besides the settings. */
export const serveFlags = {
  ephemeral: { type: 'boolean' },
  demo: { type: 'boolean' },
  seed: { type: 'string', value: 'FILE' },
  control: { type: 'boolean' },
  clock: { type: 'string', value: 'TIME' },
} as const;

/** What they ask for. */
interface ServeOptions {
  readonly ephemeral: boolean;
  readonly hasDemo: boolean;
  readonly hasControl: boolean;
  /** Of `createServer`. */
  readonly options: Pick<ServerOptions, 'ephemeral' | 'seed' | 'clock'>;
}

/** Reads them. Throws UsageError where one needs another. */
export function serveOptions({ clock, control, demo, ephemeral, seed }: Arguments['flags']): ServeOptions {
  if (control === true && ephemeral !== true)
    throw new UsageError('--control needs --ephemeral: it resets what it serves');
  if (clock !== undefined && control !== true) throw new UsageError('--clock needs --control, which moves it');
  if (seed !== undefined && (ephemeral !== true || demo === true))
    throw new UsageError('--seed needs --ephemeral, and no --demo');
  const sown = seed === undefined ? (demo === true && ephemeral === true ? 'demo' : undefined) : seedIn(String(seed));
  return {
    ephemeral: ephemeral === true,
    hasDemo: demo === true,
    hasControl: control === true,
    options: {
      ephemeral: ephemeral === true,
      ...(sown !== undefined && { seed: sown }),
      ...(clock === undefined
        ? // Where no test sets the clock, what is simulated takes its time.
          control !== true && seed === undefined && { clock: systemClock }
        : { clock: standingAt(String(clock)) }),
    },
  };
}

function seedIn(file: string): NonNullable<ServerOptions['seed']> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`--seed ${file}: ${errorOf(error).message}`);
  }
}

function standingAt(instant: string): Clock {
  try {
    return settableClock(instant);
  } catch {
    throw new UsageError('--clock must be an instant such as 2026-01-05T09:00:00Z');
  }
}
