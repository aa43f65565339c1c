/** Measures servers in memory in a separate process: `node --expose-gc fixture-meter.mjs BUNDLE`; prints lists of figures as JSON. */
import { pathToFileURL } from 'node:url';

const { createServer, settableClock } = await import(pathToFileURL(process.argv[2]).href);
const options = { ephemeral: true, port: 0, log_level: 'silent' };
const servers = 100;
const starts = 40;
const rounds = 15;

/** Returns the duration of some work in milliseconds. */
async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Creates this many customers, several at a time. Each creates an event and rows of quotas. */
async function write(server, count) {
  const admin = server.as('admin');
  const create = async () => {
    while (count-- > 0) {
      const response = await admin('/api/customers/', { method: 'POST', json: { name: `Customer ${count}` } });
      if (response.status !== 201) throw new Error(await response.text());
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 16 }, create));
}

const figures = { first: [], create: [], reset: [], after: [], restore: [] };
figures.first.push(await timed(async () => (await createServer(options)).close()));
for (let i = 0; i < starts; i++) {
  let server;
  figures.create.push(await timed(async () => (server = await createServer(options))));
  await server.close();
}
// Measure before other writes, which would leave free memory.
const residentNow = () => {
  global.gc();
  global.gc();
  return process.memoryUsage.rss() / 2 ** 20;
};
const before = residentNow();
const all = [];
figures.together = [
  await timed(async () =>
    all.push(...(await Promise.all(Array.from({ length: servers }, () => createServer(options))))),
  ),
];
for (const each of all) await (await each.as('admin')('/api/customers/')).arrayBuffer();
figures.resident = [(residentNow() - before) / servers];
await Promise.all(all.map((each) => each.close()));

const server = await createServer(options);
const ask = async () => (await server.as('admin')('/api/customers/')).arrayBuffer();
for (let i = 0; i < rounds; i++) {
  await write(server, 1000);
  if (i === 0) await server.snapshot('thousand');
  figures.reset.push(await timed(() => server.reset()));
  figures.after.push(await timed(ask));
  figures.restore.push(await timed(() => server.restore('thousand')));
  await ask();
  await server.reset();
}
await server.close();

figures.demo = [];
figures.advance = [];
for (let i = 0; i < 3; i++) {
  let demo;
  const clock = settableClock('2026-01-05T09:00:00Z');
  figures.demo.push(await timed(async () => (demo = await createServer({ ...options, clock, seed: 'demo' }))));
  figures.advance.push(await timed(() => demo.advance('30d')));
  await demo.close();
}
process.stdout.write(JSON.stringify(figures));
