import { readFileSync } from 'node:fs';
import { type Clock, settableClock, systemClock } from '../../kernel/clock.ts';
import { plainReason } from '../../kernel/present.ts';
import { urlOf } from '../../kernel/url.ts';
import type { ServerOptions } from '../create-server.ts';
import { sourceOf } from '../replication/copies.ts';
import type { FollowOptions } from '../replication/follower.ts';
import { type Arguments, UsageError } from './command-line.ts';

/** The options of `tenantry serve`. */
export const serveFlags = {
  ephemeral: { type: 'boolean', help: 'Keep all data in memory and print a token of admin' },
  demo: { type: 'boolean', help: 'Start with sample data and print its logins' },
  seed: { type: 'string', value: 'FILE', help: 'Start with the data in a JSON file (with --ephemeral)' },
  control: { type: 'boolean', help: 'Open a control port for tests (with --ephemeral)' },
  clock: { type: 'string', value: 'TIME', help: 'Stop the clock at an instant (with --control)' },
  follow: { type: 'string', value: 'SOURCE', help: "Serve reads from copies of another server's data" },
  primary: { type: 'string', value: 'URL', help: 'Send all other requests there (with --follow)' },
} as const;

/** The parsed options. */
interface ServeOptions {
  readonly ephemeral: boolean;
  readonly hasDemo: boolean;
  readonly hasControl: boolean;
  /** Options of `createServer`. */
  readonly options: Pick<ServerOptions, 'ephemeral' | 'seed' | 'clock' | 'follow'>;
}

/** Parses the options. Throws UsageError if they conflict. */
export function serveOptions(flags: Arguments['flags']): ServeOptions {
  const { clock, control, demo, ephemeral, follow, primary, seed } = flags;
  if (control === true && ephemeral !== true)
    throw new UsageError('--control needs --ephemeral: it can reset the data');
  if (clock !== undefined && control !== true) throw new UsageError('--clock needs --control, which advances it');
  if (seed !== undefined && (ephemeral !== true || demo === true))
    throw new UsageError('--seed needs --ephemeral and cannot be combined with --demo');
  if (follow !== undefined && (ephemeral === true || demo === true))
    throw new UsageError('--follow cannot be combined with --ephemeral or --demo');
  if (primary !== undefined && follow === undefined) throw new UsageError('--primary needs --follow');
  const initialData =
    seed === undefined ? (demo === true && ephemeral === true ? 'demo' : undefined) : readSeed(String(seed));
  return {
    ephemeral: ephemeral === true,
    hasDemo: demo === true,
    hasControl: control === true,
    options: {
      ephemeral: ephemeral === true,
      ...(initialData !== undefined && { seed: initialData }),
      ...(follow !== undefined && { follow: followOptions(String(follow), primary) }),
      ...(clock === undefined
        ? // Unless a test sets the clock, simulated operations take real time.
          control !== true && seed === undefined && { clock: systemClock }
        : { clock: clockAt(String(clock)) }),
    },
  };
}

function followOptions(follow: string, primary: unknown): FollowOptions {
  const source = sourceOf(follow);
  if (primary === undefined) return { source, primary: null };
  const url = urlOf(String(primary));
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError('--primary must be an http or https URL');
  if (url.username || url.password || url.search || url.hash)
    throw new UsageError('--primary must be a URL without user name, query and fragment');
  return { source, primary: url.href.replace(/\/+$/, '') };
}

function readSeed(file: string): NonNullable<ServerOptions['seed']> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`--seed ${file}: ${plainReason(error, file)}`);
  }
}

function clockAt(instant: string): Clock {
  try {
    return settableClock(instant);
  } catch {
    throw new UsageError('--clock must be an instant such as 2026-01-05T09:00:00Z');
  }
}
