/**
 * Preload script: the clocks and delays of the program's lease run LEASE_SPEED times as fast as the machine's (default: five).
 * The file SUSPENDED_FILE has the milliseconds for which the machine was suspended, which its monotonic clock omits.
 */

import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import timers from 'node:timers/promises';

const { LEASE_SPEED: speedText = '5', SUSPENDED_FILE: suspendedFile } = process.env;
const speed = Number(speedText);
const { hrtime } = process;
const { bigint } = hrtime;
const { uptime } = os;
const { setTimeout: pause } = timers;

/** Nanoseconds between two reads of the file. */
const often = 20_000_000n;
let suspended = 0n;
let read = -often;

function suspendedAt(now) {
  if (suspendedFile !== undefined && now - read > often) {
    suspended = BigInt(readFileSync(suspendedFile, 'utf8')) * 1_000_000n;
    read = now;
  }
  return suspended;
}

hrtime.bigint = () => {
  const now = bigint();
  return (now - suspendedAt(now)) * BigInt(speed);
};
os.uptime = () => uptime() * speed;
timers.setTimeout = (ms, ...rest) => pause(ms / speed, ...rest);
syncBuiltinESMExports();
