/**
 * Preloaded into the server: answers `begin` and `end` with how long its event loop was held since the last time, and its
 * memory. What the process did not compute itself is not counted: other processes may have had the processor.
 */
const { performance } = require('node:perf_hooks');

let [at, used, heldAtMost] = [performance.now(), process.cpuUsage(), 0];
setInterval(() => {
  const now = performance.now();
  const { system, user } = process.cpuUsage(used);
  heldAtMost = Math.max(heldAtMost, Math.min(now - at, (system + user) / 1000));
  [at, used] = [now, process.cpuUsage()];
}, 1).unref();
process.on('message', () => {
  process.send({ heldAtMost, megabytes: process.memoryUsage().rss / 1e6 });
  heldAtMost = 0;
});
process.channel?.unref();
