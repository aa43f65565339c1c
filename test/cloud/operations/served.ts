/**
 * A server in a separate process, which tests kill: `served.ts <data folder>`. Prints its address and a token of staff, and runs
 * pending work ten times a second.
 */

import { createServer } from 'tenantry';
import { second } from '../../../src/kernel/clock.ts';

const server = await createServer({
  data: process.argv[2] as string,
  port: 0,
  log_level: 'error',
  job_tick: 0,
  job_delay: second / 100,
});
console.log(JSON.stringify({ url: server.url, token: server.issueToken() }));
setInterval(() => server.tick(), 100);
