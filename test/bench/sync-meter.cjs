/**
 * Preloaded into the server. Replies to `begin` and `end` with the time for which its event loop was blocked since the last
 * message, and with its peak memory. Only CPU time of the process counts, because other processes may have used the CPU.
 */
const { performance } = require('node:perf_hooks');

let [at, used, heldAtMost, most] = [performance.now(), process.cpuUsage(), 0, 0];
setInterval(() => {
  const now = performance.now();
  const { system, user } = process.cpuUsage(used);
  heldAtMost = Math.max(heldAtMost, Math.min(now - at, (system + user) / 1000));
  most = Math.max(most, process.memoryUsage.rss());
  [at, used] = [performance.now(), process.cpuUsage()];
}, 1).unref();
process.on('message', () => {
  process.send({ heldAtMost, megabytes: Math.max(most, process.memoryUsage.rss()) / 1e6 });
  [heldAtMost, most] = [0, 0];
});
process.channel?.unref();
