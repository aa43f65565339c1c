/**
 * Backups beside writes: by how much a backup slows the writes of the same server.
 *
 *   npm run bench -- --only backups      two minutes
 *
 * Prints a Markdown table. Rounds with backups alternate with rounds without, so that other load on the machine affects both. In a
 * round with backups, one follows the other. The object store runs in this process, at the lowest priority: in practice, it is on
 * another machine.
 */
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { compiled } from '../support/compiled.ts';
import { ObjectStore } from '../support/object-store.ts';
import { ask } from './ask.ts';
import { cases } from './cases.ts';
import { readSample, seeded } from './databases.ts';
import type { Measured } from './load.ts';
import { dataFolder, type Running, startLoad, startTenantry } from './processes.ts';
import { checked, median } from './report.ts';
import { medium, tokenOf } from './seed.ts';

const rounds = 5;
const milliseconds = 3000;
const connections = 16;
/** Minimum write throughput of a server during a backup, as a share of that without a backup. */
const minShare = 0.9;

const run_ = promisify(execFile);

interface Pair {
  readonly with: Measured;
  readonly without: Measured;
}

/** Measures the built program on a copy of the database of 10,000 customers inside `folder`. */
export async function run(folder: string, bundle: string, show: (text: string) => void): Promise<string> {
  const database = await seeded(folder, medium, show);
  const data = dataFolder(join(folder, 'backups'), database);
  const store = await ObjectStore.start();
  const server = await startTenantry(bundle, data);
  const load = startLoad(compiled(new URL('load.ts', import.meta.url)));
  try {
    setPriority(constants.priority.PRIORITY_LOW);
    const recipients = join(data, 'recipients');
    writeFileSync(recipients, `${await identityToRecipient(await generateX25519Identity())}\n`);
    const scheduled = [
      ...[bundle, 'backups', 'now', '--quiet', '--data', data, '--backup-keep', '1d'],
      ...[...store.options(), '--backup-recipients-file', recipients],
    ];
    const kinds = {
      'requested, to a file': () => requestBackup(server),
      'scheduled, encrypted, to an object store': async () => {
        // Names of backups have seconds.
        await pause(1000 - (Date.now() % 1000));
        await run_(process.execPath, scheduled, { env: { ...process.env, ...store.environment } });
      },
    };
    const requests = cases.find(({ name }) => name === 'create')?.requests(readSample(database)) ?? [];
    const write = (length = milliseconds): Promise<Measured> =>
      load.run({ url: server.url, requests, connections, milliseconds: length });
    await write(2000);
    const rows: string[] = [];
    for (const [kind, backUp] of Object.entries(kinds)) {
      const pairs: Pair[] = [];
      let count = 0;
      for (let round = 0; round < rounds; round++) {
        const beside = async (): Promise<Measured> => {
          let isOver = false;
          const backups = repeat(backUp, () => isOver);
          const measured = await write();
          isOver = true;
          count += await backups;
          return measured;
        };
        // Alternate the order, too, because the database grows.
        const early = round % 2 === 0 ? await beside() : undefined;
        const without = await write();
        pairs.push({ with: early ?? (await beside()), without });
        show(`Backup ${kind}: round ${round + 1} of ${rounds}`);
      }
      rows.push(row(kind, pairs, count));
    }
    return [
      '| Backup | Writes/s beside it | Without | Share | p50 / p99 ms beside it | Without | Backups | Target |',
      '|---|--:|--:|--:|--:|--:|--:|---|',
      ...rows,
    ].join('\n');
  } finally {
    await server.stop();
    await load.stop();
    await store.close();
    rmSync(data, { recursive: true });
  }
}

function row(kind: string, pairs: readonly Pair[], count: number): string {
  const share = median(pairs.map((pair) => pair.with.perSecond / pair.without.perSecond));
  const of = (side: keyof Pair, key: 'perSecond' | 'p50' | 'p99'): number =>
    median(pairs.map((pair) => pair[side][key]));
  const speed = (side: keyof Pair): string => Math.round(of(side, 'perSecond')).toLocaleString('en');
  const latency = (side: keyof Pair): string => `${of(side, 'p50').toFixed(1)} / ${of(side, 'p99').toFixed(1)}`;
  const target = checked({ text: `≥ ${Math.round(100 * minShare)} %`, met: share >= minShare });
  return `| ${kind} | ${speed('with')} | ${speed('without')} | ${Math.round(100 * share)} % | ${latency('with')} | ${latency('without')} | ${count} | ${target} |`;
}

/** Creates backups one after the other until the round is over. Returns their number. */
async function repeat(backUp: () => Promise<unknown>, isOver: () => boolean): Promise<number> {
  for (let count = 1; ; count++) {
    await backUp();
    if (isOver()) return count;
  }
}

/** Starts a backup through the API, and deletes it when it is complete. */
async function requestBackup({ url }: Running): Promise<void> {
  const token = tokenOf('staff');
  const { body, status } = await ask(url, { method: 'POST', target: '/api/backups/', token });
  if (status !== 202) throw new Error(`POST /api/backups/ returned ${status}: ${body}`);
  const target = new URL((JSON.parse(body) as { url: string }).url).pathname;
  for (;;) {
    const { state } = JSON.parse((await ask(url, { method: 'GET', target, token })).body) as { state: string };
    if (state === 'failed') throw new Error('The backup has failed');
    if (state === 'ready') break;
    await pause(100);
  }
  await fetch(`${url}${target}`, { method: 'DELETE', headers: { Authorization: `Token ${token}` } });
}
