/**
 * Preloaded into the server: answers each message with how many milliseconds its event loop was held at most since the last one. What
 * the main thread waited for a processor that others had is not counted, where the kernel tells of it.
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

/** Milliseconds that the main thread has waited for a processor so far. */
function waited() {
  if (schedule === undefined) return 0;
  const text = buffer.toString('latin1', 0, readSync(schedule, buffer, 0, buffer.length, 0));
  return Number(text.split(' ')[1]) / 1e6;
}

let [at, before, heldAtMost] = [performance.now(), waited(), 0];
function look() {
  const [now, since] = [performance.now(), waited()];
  heldAtMost = Math.max(heldAtMost, now - at - (since - before));
  [at, before] = [now, since];
}
setInterval(look, 1).unref();
process.on('message', () => {
  look();
  process.send({ heldAtMost });
  heldAtMost = 0;
});
process.on('exit', () => schedule !== undefined && closeSync(schedule));
process.channel?.unref();
