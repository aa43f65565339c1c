/**
 * Preloaded into the server: answers each message with how many milliseconds its event loop was held at most since the last one. Not
 * counted is when it had nothing to do, and what the main thread waited for a processor that others had, or for the machine on which
 * a virtual one runs, where the kernel tells of it. What the main thread ran always counts.
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

/** Milliseconds for which the main thread has run so far, and for which it has waited for a processor. */
function scheduled() {
  if (schedule === undefined) return [0, 0];
  const text = buffer.toString('latin1', 0, readSync(schedule, buffer, 0, buffer.length, 0));
  return text
    .split(' ', 2)
    .map(Number)
    .map((nanoseconds) => nanoseconds / 1e6);
}

/** Milliseconds that the machine below has taken from all processors so far, told in hundredths of a second. */
function stolen() {
  if (processors === undefined) return 0;
  const text = buffer.toString('latin1', 0, readSync(processors, buffer, 0, buffer.length, 0));
  return 10 * Number(text.split(/\s+/, 9)[8]);
}

/** Milliseconds so far: all of them, those in which the main thread ran, and those in which nothing held the loop but others. */
function times() {
  const [ran, waited] = scheduled();
  return [performance.now(), ran, waited + performance.nodeTiming.idleTime];
}

/** Milliseconds below which nobody asks who took them: that takes a part of one itself. */
const worthAsking = 5;
let heldAtMost = 0;
let before = times();
let stolenBefore = stolen();
function look() {
  const now = times();
  const [passed, ran, free] = now.map((time, i) => time - before[i]);
  // Whoever waits for a processor when there is something to do again has waited in both ways: it has held for as long as it ran.
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
