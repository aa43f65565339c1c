/**
 * Loaded before a program: the clocks of its lease, and its pauses, are LEASE_SPEED times as fast as the machine's, five times by
 * default. The machine was suspended for so many milliseconds as the file SUSPENDED_FILE states, which its monotonic clock omits.
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

/** Nanoseconds after which the file is read again. */
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
