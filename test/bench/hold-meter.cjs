/**
 * Preloaded into the server. Replies to each message with the longest time in milliseconds for which its event loop was blocked
 * since the last message. Excludes idle time, time in which the main thread waited for a CPU that other processes used, and time
 * that the host of a virtual machine took, where the kernel reports it. Time in which the main thread ran always counts.
 */
const { closeSync, openSync, readSync } = require('node:fs');
const { performance } = require('node:perf_hooks');

const opened = (file) => {
  try {
    return openSync(file, 'r');
  } catch {
    return undefined;
  }
};
const schedule = opened(`/proc/self/task/${process.pid}/schedstat`);
const processors = opened('/proc/stat');
const buffer = Buffer.alloc(200);

/** Returns the milliseconds for which the main thread has run and for which it has waited for a CPU. */
function scheduled() {
  if (schedule === undefined) return [0, 0];
  const text = buffer.toString('latin1', 0, readSync(schedule, buffer, 0, buffer.length, 0));
  return text
    .split(' ', 2)
    .map(Number)
    .map((nanoseconds) => nanoseconds / 1e6);
}

/** Returns the milliseconds that the host has taken from all CPUs. The kernel counts hundredths of a second. */
function stolen() {
  if (processors === undefined) return 0;
  const text = buffer.toString('latin1', 0, readSync(processors, buffer, 0, buffer.length, 0));
  return 10 * Number(text.split(/\s+/, 9)[8]);
}

/** Total milliseconds, those in which the main thread ran, and those lost to other processes. */
function times() {
  const [ran, waited] = scheduled();
  return [performance.now(), ran, waited + performance.nodeTiming.idleTime];
}

/** Milliseconds below which the cause is not examined, because the examination takes almost that long. */
const worthAsking = 5;
let heldAtMost = 0;
let before = times();
let stolenBefore = stolen();
function look() {
  const now = times();
  const [passed, ran, free] = now.map((time, i) => time - before[i]);
  // A thread that waits for a CPU after being idle was blocked only for as long as it ran.
  const held = passed - free;
  const taken = held > heldAtMost && held > worthAsking ? stolen() - stolenBefore : 0;
  heldAtMost = Math.max(heldAtMost, ran, held - taken);
  before = now;
}
setInterval(look, 1).unref();
setInterval(() => {
  look();
  stolenBefore = stolen();
}, 50).unref();
process.on('message', () => {
  look();
  process.send({ heldAtMost });
  heldAtMost = 0;
});
process.on('exit', () => {
  for (const file of [schedule, processors]) if (file !== undefined) closeSync(file);
});
process.channel?.unref();
