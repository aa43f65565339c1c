/**
 * Kills the first start of a server at random moments, repeatedly in one folder, and then starts in a folder after an unclean
 * shutdown. At the end, the server starts, the password in the file is that of the user, and acknowledged writes exist.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Program } from '../support/program.ts';
import { killAtRandom, Observer, requireHealthy } from './observer.ts';
import type { Part } from './part.ts';

export interface StartFigures {
  /** Starts killed before their end, in a new folder and after an unclean shutdown. */
  readonly newFolders: number;
  readonly uncleanFolders: number;
  readonly writes: number;
}

const serve = ['serve', '--port', '0', '--log-level', 'silent'];
/** Number of kills before a start may finish. */
const kills = 3;

/** Kills this many starts in new folders, and as many after an unclean shutdown. */
export async function killStarts(rounds: number): Promise<StartFigures> {
  let [newFolders, uncleanFolders, writes] = [0, 0, 0];
  let longest = 1000;
  for (let round = 0; round < rounds; round += kills) {
    // Without a folder for the addons, the program unpacks them into the data folder.
    const program = new Program('data/native');
    try {
      for (let i = 0; i < kills; i++) if (await killAtRandom(program, serve, longest)) newFolders++;
      const begun = performance.now();
      const first = await program.serve();
      longest = 1.2 * (performance.now() - begun);
      await requirePassword(first.url, join(program.folder, 'data'));
      const observer = await Observer.of(program);
      await observer.writeUntilKilled(first, 500);
      for (let i = 0; i < kills; i++) if (await killAtRandom(program, serve, longest)) uncleanFolders++;
      const last = await program.serve();
      await observer.requireAll(last.url);
      writes += observer.acknowledged.size;
      await last.stop();
      await requireHealthy(program);
      requireTidy(join(program.folder, 'data'));
    } finally {
      await program.end();
    }
  }
  return { newFolders, uncleanFolders, writes };
}

/** Throws unless the initial password works. */
async function requirePassword(url: string, folder: string): Promise<void> {
  const file = join(folder, 'initial-password');
  if (!existsSync(file)) throw new Error(`${file} is missing`);
  const body = JSON.stringify({ username: 'admin', password: readFileSync(file, 'utf8').trim() });
  const headers = { 'Content-Type': 'application/json' };
  const { status } = await fetch(`${url}/api-auth/password/`, { method: 'POST', headers, body });
  if (status !== 200) throw new Error(`The initial password returned ${status}`);
}

/** Throws if a folder has an unused file. */
function requireTidy(folder: string): void {
  const used = [
    ...['tenantry.db', 'secret.key', 'audit.key', 'audit-heads.log'],
    ...['initial-password', 'serve.lock', 'native'],
  ];
  const left = readdirSync(folder).filter((name) => !used.includes(name));
  if (left.length > 0) throw new Error(`Killed starts have left ${left.join(', ')}`);
}

/** The part of `npm run chaos`. */
export const start: Part = ({ rounds }) => killStarts(rounds);
