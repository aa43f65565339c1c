/**
 * Kills `demo` and `rotate-key` at random moments. Either all of their changes exist or none, and every secret can be decrypted.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { nativeCache, Program } from '../support/program.ts';
import { durationOf, killAtRandom, Observer, requireEnded, requireHealthy } from './observer.ts';
import type { Part } from './part.ts';

export interface CommandFigures {
  readonly demos: number;
  readonly rotations: number;
  /** Keys in the file at the end: a killed rotation may have added one. */
  readonly keys: number;
}

const hooks = 300;

/** Kills this many of each. */
export async function killCommands(rounds: number): Promise<CommandFigures> {
  return { demos: await killDemos(rounds), ...(await killRotations(rounds)) };
}

async function killDemos(rounds: number): Promise<number> {
  let kills = 0;
  const program = new Program(nativeCache);
  const other = new Program(nativeCache);
  try {
    const longest = 1.1 * (await durationOf(other, ['demo']));
    for (let round = 0; round < rounds; round++) {
      if (!(await killAtRandom(program, ['demo'], longest))) break;
      kills++;
      const count = read(program, 'SELECT count(*) FROM customer');
      if (count !== 0 && count !== undefined) {
        if (count !== read(other, 'SELECT count(*) FROM customer'))
          throw new Error(`A killed demo has left ${count} customers`);
        break;
      }
    }
    await program.run(['demo']);
    await requireHealthy(program, 'data', alert);
    return kills;
  } finally {
    await program.end();
    await other.end();
  }
}

/** Returns doctor's report about the sample data. */
const alert = 'DigitalOcean account Field droplets is Erred: Simulated failure of ping\n';

async function killRotations(rounds: number): Promise<Pick<CommandFigures, 'keys' | 'rotations'>> {
  let rotations = 0;
  const program = new Program(nativeCache);
  try {
    const server = await program.serve();
    const { token } = await Observer.of(program);
    const headers = { Authorization: `Token ${token}`, 'Content-Type': 'application/json' };
    for (let i = 0; i < hooks; i++) {
      const body = JSON.stringify({ destination_url: 'https://example.com/', event_groups: ['customers'] });
      const { status } = await fetch(`${server.url}/api/hooks-web/`, { method: 'POST', headers, body });
      if (status !== 201) throw new Error(`Creating a hook returned ${status}`);
    }
    await server.stop();
    const longest = 1.1 * (await durationOf(program, ['rotate-key']));
    const keyFile = join(program.folder, 'data/secret.key');
    for (let round = 0; round < rounds; round++) {
      // Most of a run is startup, so let every second kill follow soon after the new key.
      const isLate = round % 2 > 0;
      const kill = isLate
        ? killAtRandom(program, ['rotate-key'], longest / 10, keyFile)
        : killAtRandom(program, ['rotate-key'], longest);
      if (await kill) rotations++;
      await requireHealthy(program);
    }
    requireEnded(await program.run(['rotate-key']), ['rotate-key']);
    await requireHealthy(program);
    const keys = readFileSync(join(program.folder, 'data/secret.key'), 'utf8').trim().split('\n').length;
    return { rotations, keys };
  } finally {
    await program.end();
  }
}

/** Returns the first column of the first row; undefined without such a table or file. */
function read(program: Program, query: string): unknown {
  let db: SQLite.Database | undefined;
  try {
    db = new SQLite(join(program.folder, 'data/tenantry.db'), { fileMustExist: true });
    return db.prepare(query).pluck().get();
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}

/** The part of `npm run chaos`. */
export const commands: Part = ({ rounds }) => killCommands(rounds);
