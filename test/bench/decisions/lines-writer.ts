/** Writes log lines of requests to stderr, as many per turn of the event loop as a busy server, and prints the CPU time of one. */
import { destination, pino } from 'pino';
import { openLog } from '../../../src/kernel/log.ts';
import { turn, used } from './comparison.ts';
import type { Way } from './lines.ts';

const writesPerThread = 2000;
const linesATurn = 30;
const { log, close } = openLog('info');
const direct = pino({ level: 'info', base: null }, destination({ fd: 2, sync: false }));
const members = (i: number) => ({
  request: `94fa5156acf8-${i}`,
  method: 'GET',
  path: '/api/customers/0fa25156acf84a11b1f3c3d1a5b0c1d2/',
  route: '/api/customers/:key/',
  status: 200,
  ms: 0.8,
  address: '127.0.0.1',
  user: '1fa25156acf84a11b1f3c3d1a5b0c1d2',
});

const ways: Readonly<Record<Way, (i: number) => void>> = {
  gathered: (i) => log.info(members(i), 'request'),
  'one by one': (i) => direct.info(members(i), 'request'),
};

const write = ways[process.argv[2] as Way];
const write30 = (from: number): void => {
  for (let i = 0; i < linesATurn; i++) write(from + i);
};
for (let i = 0; i < 200; i++) {
  write30(i);
  await turn();
}
const before = used();
for (let i = 0; i < writesPerThread; i++) {
  write30(i * linesATurn);
  await turn();
}
process.stdout.write(String((used() - before) / (writesPerThread * linesATurn)));
close();
