/**
 * A server in a separate process, which tests kill: `fast-server.ts <data folder> <initial time of its clock in milliseconds>`
 */
import { createServer } from 'tenantry';
import { clockStart, fastClock } from './fast-clock.ts';

const [data = '', instant = ''] = process.argv.slice(2);
const start = clockStart(Number(instant));
const server = await createServer({
  data,
  port: 0,
  log_level: 'error',
  clock: { now: () => fastClock(start) * 1000 },
  provider_allowed_networks: ['127.0.0.0/8'],
});
setInterval(() => server.tick(), 20);
process.stdout.write(`${JSON.stringify({ url: server.url, token: server.issueToken(), start })}\n`);
