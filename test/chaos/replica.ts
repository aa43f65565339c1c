/**
 * Replicates a database continuously with Litestream, with the configuration that the program prints, while clients write.
 *
 * In the drill the server and Litestream are killed during writes, and the copy is restored elsewhere: it is intact, and missing
 * writes were acknowledged in the last two seconds. In the long run no process is killed: nothing is missing, and Litestream
 * reports no error.
 */
import { copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startMoto } from '../live/moto/server.ts';
import { Bucket } from '../live/objects/bucket.ts';
import { nativeCache, Program, type Serving } from '../support/program.ts';
import { endWithSignal, litestream, type Replicating, replicate, storeKeys } from '../support/replication.ts';
import { Observer, requireEnded, requireHealthy } from './observer.ts';

export const writers = 16;
/** Seconds of a drill. */
export const drillLasts = 15;
/** Seconds before the kill in which missing writes may have been acknowledged. */
const maxMissing = 2;

type Target = 'file' | 's3';

/** The bucket in the printed configuration. */
const bucket = 'tenantry';

const storeOf = (url: string): ConstructorParameters<typeof Bucket>[0] => ({
  name: 'moto',
  url,
  environment: {
    AWS_ACCESS_KEY_ID: storeKeys.LITESTREAM_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY: storeKeys.LITESTREAM_SECRET_ACCESS_KEY,
  },
  verifiesSignatures: false,
});

/** The running processes. */
interface Works {
  readonly program: Program;
  readonly server: Serving;
  readonly replicating: Replicating;
  readonly config: string;
  /** The folder of copies with the file target. */
  readonly objects: string;
  readonly observer: Observer;
  /** Milliseconds at which customers were acknowledged, by uuid. */
  readonly acknowledged: Map<string, number>;
}

/** Runs a server and Litestream during `work`, and stops both. */
export async function withWorks<T>(
  target: Target,
  use: (works: Works) => Promise<T>,
  words = ['--replicated'],
): Promise<T> {
  const program = new Program(process.env.TENANTRY_NATIVE_CACHE ?? nativeCache);
  const objects = join(program.folder, 'objects');
  mkdirSync(objects);
  const store = target === 's3' ? await startMoto() : undefined;
  let works: Works | undefined;
  try {
    if (store) await new Bucket(storeOf(store.url), bucket).create();
    const add = ['user', 'add', 'admin', '--staff', '--data', 'data', ...words];
    requireEnded(await program.run(add), add);
    const printed = await program.run(['example', 'litestream', ...words]);
    const config = join(program.folder, 'litestream.yml');
    writeFileSync(config, configured(printed.stdout, store?.url, program.folder));
    const observer = await Observer.of(program);
    const server = await program.serve(words);
    works = {
      program,
      server,
      observer,
      config,
      objects,
      acknowledged: new Map(),
      replicating: await replicate(config),
    };
    return await use(works);
  } finally {
    if (works && works.replicating.process.exitCode === null) works.replicating.process.kill('SIGKILL');
    await store?.end();
    await program.end();
  }
}

/** Returns the printed configuration with other file locations, or with the S3 part uncommented. */
function configured(printed: string, store: string | undefined, folder: string): string {
  const local = printed
    .replaceAll('/run/litestream-tenantry.sock', join(folder, 'litestream.sock'))
    .replace('/var/backups/tenantry-replica', join(folder, 'objects'));
  if (store === undefined) return local;
  return local
    .replace(/^ {4}replica:\n(?: {6}.*\n)*/m, '')
    .replace(/^ {4}# (replica:| {2}\w.*)$/gm, '    $1')
    .replace('https://s3.example.com', store);
}

/** Clients write until `until` resolves. */
async function write({ acknowledged, server, observer }: Works, until: Promise<unknown>): Promise<void> {
  let isOver = false;
  const clients = Array.from({ length: writers }, async () => {
    while (!isOver) {
      try {
        const response = await observer.write(server.url);
        const { uuid } = (await response.json()) as { uuid?: string };
        if (response.status === 201 && uuid !== undefined) acknowledged.set(uuid, performance.now());
      } catch (error) {
        if (!isOver) throw error;
      }
    }
  });
  const writing = Promise.all(clients);
  await Promise.race([writing, until]);
  isOver = true;
  await writing;
}

/** Restores the copy, which must be intact, into another folder; returns the customers that are missing there. */
async function missing({ acknowledged, config, program }: Works): Promise<string[]> {
  const remote = join(program.folder, 'elsewhere');
  mkdirSync(remote);
  const database = join(program.folder, 'data/tenantry.db');
  await litestream('restore', '-no-expand-env', '-config', config, '-o', join(remote, 'tenantry.db'), database);
  copyFileSync(join(program.folder, 'data/secret.key'), join(remote, 'secret.key'));
  await requireHealthy(program, 'elsewhere');
  const observer = await Observer.of(program, 'elsewhere');
  const server = await program.serve(['--data', 'elsewhere']);
  const present = await observer.customers(server.url);
  await server.stop();
  return [...acknowledged.keys()].filter((uuid) => !present.has(uuid));
}

/** Returns the number of errors that Litestream reported. */
const errors = ({ replicating }: Works): number => replicating.output().split('level=ERROR').length - 1;

export interface DrillFigures {
  readonly writes: number;
  /** Missing writes, and the milliseconds from the acknowledgement of the first of them to the kill. */
  readonly missing: number;
  readonly milliseconds: number;
}

/** Kills the server and Litestream after this many seconds of writes. */
export const drill = (target: Target, seconds: number): Promise<DrillFigures> =>
  withWorks(target, async (works) => {
    const { acknowledged, replicating, server } = works;
    let killed = 0;
    await write(
      works,
      pause(seconds * 1000).then(async () => {
        killed = performance.now();
        await Promise.all([server.kill(), endWithSignal(replicating.process, 'SIGKILL')]);
      }),
    ).catch((error: unknown) => {
      if (killed === 0) throw error;
    });
    const gone = await missing(works);
    const first = Math.min(killed, ...gone.map((uuid) => acknowledged.get(uuid) ?? 0));
    const figures = { writes: acknowledged.size, missing: gone.length, milliseconds: Math.round(killed - first) };
    if (figures.milliseconds > maxMissing * 1000)
      throw new Error(`Writes are missing that were acknowledged long before: ${JSON.stringify(figures)}`);
    return figures;
  });

export interface LongFigures {
  readonly writes: number;
  readonly rejected: number;
  /** Errors that Litestream reported. */
  readonly errors: number;
  /** Maximum size of the WAL in bytes. */
  readonly maxLogBytes: number;
}

/** Runs clients for this many seconds without a kill. Rejects if the copy lacks writes. */
export const replicateLong = (target: Target, seconds: number, words?: string[]): Promise<LongFigures> =>
  withWorks(
    target,
    async (works) => {
      const { acknowledged, program, replicating, server, observer } = works;
      let maxLogBytes = 0;
      const look = setInterval(() => {
        maxLogBytes = Math.max(maxLogBytes, statSync(join(program.folder, 'data/tenantry.db-wal')).size);
      }, 200);
      await write(works, pause(seconds * 1000));
      clearInterval(look);
      // Wait while Litestream reports that writes may be missing.
      await pause(2 * maxMissing * 1000);
      await server.stop();
      await endWithSignal(replicating.process, 'SIGINT');
      const gone = await missing(works);
      if (gone.length > 0) throw new Error(`${gone.length} of ${acknowledged.size} writes are missing in the copy`);
      const rejected = [...observer.rejected.values()].reduce((sum, count) => sum + count, 0);
      return { writes: acknowledged.size, rejected, errors: errors(works), maxLogBytes };
    },
    words,
  );
