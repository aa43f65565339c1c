/**
 * Changes bytes of files at rest: each start, doctor, restore and response then fails with a line, is reported, or is right.
 * Other values in the database itself are undetectable, as SQLite has no checksums for them: they are counted.
 */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nativeCache, Program, type Serving } from '../support/program.ts';
import { Observer, requireEnded } from './observer.ts';
import type { Part } from './part.ts';

/** The changed files; a backup lies beside the folder. */
const files = ['tenantry.db', 'tenantry.db-wal', 'secret.key', 'serve.lock', 'backup'] as const;
type File = (typeof files)[number];

export interface ByteFigures {
  readonly changes: number;
  /** Changes that made a start or restore fail. */
  readonly rejected: number;
  /** Changes that doctor or the log reported while the server came up. */
  readonly reported: number;
  /** Changes without a report and without a wrong response. */
  readonly harmless: number;
  /** Changes of the WAL that removed its last transactions: indistinguishable from the state after a power cut. */
  readonly shortened: number;
  /** Changes of tenantry.db that returned a wrong value without a report. */
  readonly unnoticed: number;
}

const customers = 150;

/** Changes files this many times, alternating between them. */
export async function changeBytes(rounds: number): Promise<ByteFigures> {
  const program = new Program(nativeCache);
  const figures = { changes: 0, rejected: 0, reported: 0, harmless: 0, shortened: 0, unnoticed: 0 };
  try {
    const observer = await prepare(program);
    for (let round = 0; round < rounds; round++) {
      const file = files[round % files.length] as File;
      const place = join(program.folder, 'work');
      cpSync(join(program.folder, 'base'), place, { recursive: true });
      const what = change(join(place, file));
      const outcome = await check(program, observer, file).catch((error: Error) => {
        throw new Error(`After ${what} of ${file}: ${error.message}`, { cause: error });
      });
      figures.changes++;
      figures[outcome]++;
      rmSync(place, { recursive: true });
      rmSync(join(program.folder, 'restored'), { recursive: true, force: true });
    }
    return figures;
  } finally {
    await program.end();
  }
}

/** Creates the folder of a killed server, with its WAL, a secret and a backup. */
async function prepare(program: Program): Promise<Observer> {
  const words = ['--data', 'base'];
  const server = await program.serve(words);
  const observer = await Observer.of(program, 'base');
  const headers = { Authorization: `Token ${observer.token}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ destination_url: 'https://example.com/', event_groups: ['customers'] });
  await fetch(`${server.url}/api/hooks-web/`, { method: 'POST', headers, body });
  for (let i = 0; i < customers / 2; i++) await observer.write(server.url);
  // The last process to close the database moves the WAL into the file.
  await server.stop();
  const second = await program.serve(words);
  for (let i = 0; i < customers / 2; i++) await observer.write(second.url);
  requireEnded(await program.run(['backup', 'base/backup', ...words]), ['backup']);
  await second.kill();
  // The shared memory is valid only on this machine.
  rmSync(join(program.folder, 'base/tenantry.db-shm'), { force: true });
  return observer;
}

const random = (below: number): number => Math.floor(below * Math.random());

/** Changes a file in one place; returns a description of the change. */
function change(file: string): string {
  const bytes = readFileSync(file);
  const at = random(bytes.length);
  const kind = random(bytes.length === 0 ? 1 : 4);
  if (kind === 0) {
    const rest = Buffer.alloc(1 + random(600), random(256));
    writeFileSync(file, Buffer.concat([bytes, rest]));
    return `${rest.length} bytes more at the end`;
  }
  if (kind === 1) {
    writeFileSync(file, bytes.subarray(0, at));
    return `a cut at ${at}`;
  }
  const length = kind === 2 ? 1 : 1 + random(600);
  for (let i = at; i < Math.min(at + length, bytes.length); i++)
    bytes[i] = kind === 2 ? (bytes[i] as number) ^ (1 << random(8)) : random(256);
  writeFileSync(file, bytes);
  return `${kind === 2 ? 'another bit' : `${length} other bytes`} at ${at}`;
}

type Outcome = Exclude<keyof ByteFigures, 'changes'>;

async function check(program: Program, observer: Observer, file: File): Promise<Outcome> {
  let folder = 'work';
  let isReported = false;
  if (file === 'backup') {
    folder = 'restored';
    const { code, stderr } = await program.run(['restore', 'work/backup', '--data', folder]);
    if (code !== 0) {
      requireLine(code, stderr);
      if (existsSync(join(program.folder, folder, 'tenantry.db'))) throw new Error('A failed restore left a database');
      return 'rejected';
    }
  } else {
    // Query a copy: the last process to close the database moves the WAL into the file.
    cpSync(join(program.folder, 'work'), join(program.folder, 'restored'), { recursive: true });
    const { code, stderr, stdout } = await program.run(['doctor', '--data', 'restored']);
    isReported = code !== 0 || stderr !== '';
    if (code !== 0 && stdout === '') requireLine(code, stderr);
  }
  const server = await program.serve(['--data', folder]).catch((error: Error) => error);
  if (server instanceof Error) {
    requireLine(1, server.message.replace('the server did not listen: ', ''));
    return 'rejected';
  }
  const matches = await compare(server, observer).catch((error: Error) => {
    throw new Error(`${error.message}\n${server.errors()}`, { cause: error });
  });
  const ended = await server.stop();
  if (ended !== 0 && !/failed to save pending work/.test(server.errors()))
    throw new Error(`The server ended with ${ended}`);
  isReported ||= / is damaged: /.test(server.errors());
  if (isReported) return 'reported';
  if (matches === 'shortened' && file === 'tenantry.db-wal') return 'shortened';
  if (matches === 'lost' || matches === 'shortened' || (matches === 'changed' && file !== 'tenantry.db'))
    throw new Error(`The responses are ${matches}`);
  return matches === 'changed' ? 'unnoticed' : matches === 'rejected' ? 'reported' : 'harmless';
}

/** Throws unless a command has exited with 1 and one line. */
function requireLine(code: number | null, stderr: string): void {
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  if (code !== 1 || lines.length !== 1 || !lines[0]?.startsWith('tenantry: ')) throw new Error(`${code}: ${stderr}`);
}

/** Reads every acknowledged customer, in order. A 5xx does not count as a wrong response. */
async function compare(
  { url }: Serving,
  observer: Observer,
): Promise<'right' | 'changed' | 'lost' | 'shortened' | 'rejected'> {
  const responses: string[] = [];
  for (const [uuid, name] of observer.acknowledged) {
    const response = await observer.get(`${url}/api/customers/${uuid}/`);
    if (response.status === 401) return 'lost';
    if (response.status !== 200) responses.push(response.status === 404 ? 'lost' : 'rejected');
    else responses.push(((await response.json()) as { name: string }).name === name ? 'right' : 'changed');
  }
  const lost = responses.indexOf('lost');
  if (lost >= 0)
    return lost >= Math.floor(customers / 2) && responses.slice(lost).every((reply) => reply === 'lost')
      ? 'shortened'
      : 'lost';
  return responses.includes('changed') ? 'changed' : responses.includes('rejected') ? 'rejected' : 'right';
}

/** The part of `npm run chaos`. */
export const bytes: Part = ({ rounds }) => changeBytes(2 * rounds);
