/**
 * A follower of a Litestream replica, through which clients write and read their writes. Then the primary and Litestream are
 * killed, the copy is promoted, and the old primary starts again.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { endWithSignal, installLitestream } from '../support/replication.ts';
import { requireEnded, requireHealthy } from './observer.ts';
import { withWorks, writers } from './replica.ts';

/** The header with the epoch of a server. */
const serverOf = (response: Response): string | undefined => response.headers.get('X-Request-Id')?.split('-')[0];

/** Seconds of writes through the follower. */
const lasts = 15;
/** Maximum age in seconds of missing writes before the kill: Litestream's two, and a copy that the kill interrupted. */
const maxMissing = 2;

export interface FollowFigures {
  /** Writes through the follower. Each was read there afterwards. */
  readonly writes: number;
  /** The number of these reads from the follower's own copy, and their median duration in milliseconds. */
  readonly readHere: number;
  readonly median: number;
  /** Writes that the promoted copy lacks, and the milliseconds between the first of them and the kill. */
  readonly missing: number;
  readonly milliseconds: number;
}

/** Rejects with a readable error when a write was not readable or is missing, or when the old primary accepts another write. */
export const followAndPromote = (): Promise<FollowFigures> =>
  withWorks('file', async ({ acknowledged, objects, program, replicating, server, observer }) => {
    const source = `file://${objects}/1`;
    const words = ['--data', 'follower', '--follow', source, '--litestream-program', await installLitestream()];
    mkdirSync(join(program.folder, 'follower'));
    copyFileSync(join(program.folder, 'data/secret.key'), join(program.folder, 'follower/secret.key'));
    const follower = await program.serve([...words, '--primary', server.url, '--follow-interval', '1s']);
    const here = serverOf(await fetch(follower.url));
    const times: number[] = [];
    let readHere = 0;
    const until = performance.now() + lasts * 1000;
    const client = async (): Promise<void> => {
      while (performance.now() < until) {
        const written = await observer.write(follower.url);
        const { url, uuid } = (await written.json()) as { url: string; uuid: string };
        if (written.status !== 201) throw new Error(`A write through the follower returned ${written.status}`);
        acknowledged.set(uuid, performance.now());
        const begun = performance.now();
        const read = await fetch(url, {
          headers: {
            Authorization: `Token ${observer.token}`,
            'X-Tenantry-Version': written.headers.get('X-Tenantry-Version') ?? '',
          },
        });
        await read.text();
        if (read.status !== 200) throw new Error(`Reading the write at the follower returned ${read.status}`);
        if (serverOf(read) !== here) continue;
        readHere++;
        times.push(performance.now() - begun);
      }
    };
    await Promise.all(Array.from({ length: writers }, client)).catch((error: unknown) => {
      throw new Error(`A request at the follower failed: ${follower.errors()}`, { cause: error });
    });
    const killed = performance.now();
    await Promise.all([server.kill(), endWithSignal(replicating.process, 'SIGKILL')]);
    await follower.stop();
    const promotion = ['promote', ...words];
    requireEnded(await program.run(promotion), promotion);
    await requireHealthy(program, 'follower');
    const promoted = await program.serve(['--data', 'follower']);
    const present = await observer.customers(promoted.url);
    const gone = [...acknowledged].filter(([uuid]) => !present.has(uuid)).map(([, instant]) => instant);
    const milliseconds = Math.round(killed - Math.min(killed, ...gone));
    if (milliseconds > maxMissing * 1000)
      throw new Error(
        `The promoted copy lacks ${gone.length} writes, the first from ${milliseconds} ms before the kill`,
      );
    const back = await program.serve(['--peers', promoted.url]);
    const late = await observer.write(back.url);
    if (late.status !== 503) throw new Error(`The old primary responds to a write with ${late.status}`);
    times.sort((a, b) => a - b);
    const median = Math.round(times[Math.floor(times.length / 2)] ?? 0);
    return { writes: acknowledged.size, readHere, median, missing: gone.length, milliseconds };
  });
