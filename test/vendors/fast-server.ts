/** A server in a process of its own, to be killed: `fast-server.ts <data folder> <instant of the clock's start in milliseconds>` */
import { createServer } from '../../src/app/server.ts';
import { fastClock } from './fast-clock.ts';

const [data = '', start = ''] = process.argv.slice(2);
const server = await createServer({
  data,
  port: 0,
  log_level: 'error',
  clock: { now: () => fastClock(Number(start)) * 1000 },
  provider_allowed_networks: ['127.0.0.0/8'],
});
setInterval(() => server.tick(), 20);
process.stdout.write(`${JSON.stringify({ url: server.url, token: server.issueToken() })}\n`);
