/**
 * A server in a separate process, to be killed: `served.ts <data folder>`. Prints where it listens and a token of staff,
 * and looks after due work ten times a second.
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
