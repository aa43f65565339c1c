/** Loaded before a program: the clocks of its lease, and its pauses, are five times as fast as the machine's. */

import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import timers from 'node:timers/promises';

const speed = 5;
const { hrtime } = process;
const { bigint } = hrtime;
const { uptime } = os;
const { setTimeout: pause } = timers;

hrtime.bigint = () => bigint() * BigInt(speed);
os.uptime = () => uptime() * speed;
timers.setTimeout = (ms, ...rest) => pause(ms / speed, ...rest);
syncBuiltinESMExports();
