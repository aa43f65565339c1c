import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { place } from '../../kernel/files.ts';
import { leaseFile } from '../data/data-folder.ts';

/** An instant by two clocks of the machine, in milliseconds. Only the second clock runs while the machine is suspended. */
export interface MachineInstant {
  readonly monotonicMs: number;
  readonly uptimeMs: number;
}

/** Returns the current instant. All processes on the machine share these clocks. */
export const machineNow = (): MachineInstant => ({
  monotonicMs: Number(process.hrtime.bigint()) / 1e6,
  uptimeMs: uptime() * 1000,
});

/** The last acquisition of the lease for a data folder. */
export interface LeaseState {
  readonly epoch: number;
  readonly holder: string;
  /** False until the store has confirmed the acquisition. */
  readonly isAcquired: boolean;
  /** Whether the holder is a server, not a command. */
  readonly isServer: boolean;
  /** The holder may write until this instant of the machine's boot `boot`. */
  readonly deadline: MachineInstant;
  readonly boot: string;
}

/** Identifies the current boot of the machine. Each boot restarts the clocks of `MachineInstant`. */
function currentBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** Whether a data folder has a state, even an unreadable one. */
export const hasLeaseState = (folder: string): boolean => existsSync(join(folder, leaseFile));

/** Returns the state in a data folder; undefined without one. */
export function readLeaseState(folder: string): LeaseState | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, leaseFile), 'utf8')) as LeaseState;
  } catch {
    return undefined;
  }
}

/** Stores the state. With `isSynced`, waits until it is on disk. */
export function storeLeaseState(folder: string, state: Omit<LeaseState, 'boot'>, isSynced = false): void {
  const file = join(folder, leaseFile);
  const draft = `${file}.new`;
  writeFileSync(draft, JSON.stringify({ ...state, boot: currentBoot() }), { mode: 0o600 });
  if (isSynced) place(draft, file);
  else renameSync(draft, file);
}

/** Returns the milliseconds until a deadline by the clock that reaches it first; negative afterwards. */
export const millisecondsUntil = (deadline: MachineInstant, now: MachineInstant): number =>
  Math.min(deadline.monotonicMs - now.monotonicMs, deadline.uptimeMs - now.uptimeMs);

/** Whether a stored deadline belongs to the current boot. */
export const isOfThisBoot = ({ boot }: LeaseState): boolean => boot === currentBoot();
