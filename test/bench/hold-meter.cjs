/**
 * Preloaded into the server: answers each message with how many milliseconds its event loop was held at most since the last one. Not
 * counted is when it had nothing to do, and what the main thread waited for a processor that others had, where the kernel tells of it.
 */
const { closeSync, openSync, readSync } = require('node:fs');
const { performance } = require('node:perf_hooks');

const schedule = (() => {
  try {
    return openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  } catch {
    return undefined;
  }
})();
const buffer = Buffer.alloc(100);

/** Milliseconds for which the main thread has run so far, and for which it has waited for a processor. */
function scheduled() {
  if (schedule === undefined) return [0, 0];
  const text = buffer.toString('latin1', 0, readSync(schedule, buffer, 0, buffer.length, 0));
  return text
    .split(' ', 2)
    .map(Number)
    .map((nanoseconds) => nanoseconds / 1e6);
}

/** Milliseconds so far: all of them, those in which the main thread ran, and those in which nothing held the loop but others. */
function times() {
  const [ran, waited] = scheduled();
  return [performance.now(), ran, waited + performance.nodeTiming.idleTime];
}

let heldAtMost = 0;
let before = times();
function look() {
  const now = times();
  const [passed, ran, free] = now.map((time, i) => time - before[i]);
  // Whoever waits for a processor when there is something to do again has waited in both ways: it has held for as long as it ran.
  heldAtMost = Math.max(heldAtMost, ran, passed - free);
  before = now;
}
setInterval(look, 1).unref();
process.on('message', () => {
  look();
  process.send({ heldAtMost });
  heldAtMost = 0;
});
process.on('exit', () => schedule !== undefined && closeSync(schedule));
process.channel?.unref();
