/**
 * Cuts the power of servers that send their audit trail to a file on the same disk and to a receiver. After each cut, the sinks
 * have all records that the database counts as received, and the database has all records that a sink received. A server that
 * starts after the cut completes both.
 */
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { rejectDamagedHeader } from '../../src/kernel/durability/write-ahead-log.ts';
import { eventually } from '../support/eventually.ts';
import { nativeCache, Program } from '../support/program.ts';
import { Receiver } from '../support/receiver.ts';
import { FaultyDisk } from './faulty-disk.ts';
import { lostPower, recordEnds } from './lost-power.ts';
import type { Part } from './part.ts';
import { post, serveOn, unlessEnded } from './power.ts';

export interface AuditPowerFigures {
  readonly cuts: number;
  readonly servers: number;
  readonly writes: number;
  /** Records that the receiver got, and how many of them it got twice. */
  readonly received: number;
  readonly repeated: number;
  /** Cuts inside a batch, which left a truncated or torn line in the file. */
  readonly torn: number;
  /** Servers started on the disk after a cut. */
  readonly restarts: number;
}

const writers = 4;
const longestMs = 5000;
/** Start a server after one of this many cuts. */
const restartEvery = 25;
const file = 'audit.ndjson';

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A record that the receiver got, and the length of the trace at that time. */
interface Delivered {
  readonly line: string;
  readonly at: number;
}

/** The trail in a database after a cut: its lines by record id, and the position of each sink. */
interface Trail {
  readonly lines: ReadonlyMap<number, string>;
  readonly received: Readonly<Record<string, number>>;
}

const isRecord = (line: string): boolean => line.startsWith('{"') && !line.startsWith('{"head"');

/** Runs servers for this many milliseconds, and simulates this many cuts. Throws a readable error if a record is lost. */
export async function cutPowerOfSinks(
  cuts: number,
  milliseconds: number,
  program: readonly string[],
): Promise<AuditPowerFigures> {
  const disk = new FaultyDisk();
  const receiver = await Receiver.start();
  const delivered: Delivered[] = [];
  receiver.behaviour = ({ body }) => {
    const at = disk.position;
    delivered.push(...linesIn(body).map((line) => ({ line, at })));
    return Math.random() < 0.1 ? 500 : 200;
  };
  const words = ['--audit-file', join(disk.folder, file), '--audit-sink-url', receiver.url];
  const count = { servers: 1, writes: 0, torn: 0, restarts: 0 };
  try {
    const first = await serveOn(disk, program, words);
    const start = disk.position;
    // A busy machine may send nothing for seconds.
    count.writes += await writeTo(first, () => delivered.length > 0);
    const failing = failSyncs(disk, milliseconds);
    for (const end = performance.now() + milliseconds; performance.now() < end; ) {
      const server = await serveOn(disk, program, words).catch(() => undefined);
      if (!server) continue;
      count.servers++;
      count.writes += await writeTo(server);
    }
    await failing;
    const over = disk.position;
    const positions = Array.from({ length: cuts }, () => start + Math.floor((over - start) * Math.random()));
    // Half of the cuts follow a write to the file, before its sync.
    const appends = recordEnds(disk.trace).filter(
      ({ at, operation, path }) => operation === 'W' && path.endsWith(file) && at >= start,
    );
    for (let i = 0; i < positions.length; i += 2)
      positions[i] = appends[Math.floor(appends.length * Math.random())]?.at ?? over;
    const repeated = delivered.length - new Set(delivered.map(({ line }) => line)).size;
    const received = delivered.length;
    const after = join(disk.folder, '../after');
    let number = 0;
    for (const cut of lostPower(disk.trace, positions, after)) {
      const before = delivered.filter(({ at }) => at <= cut).map(({ line }) => line);
      if (requireReceived(after, before)) count.torn++;
      if (++number % restartEvery !== 0) continue;
      // Give the sinks the same addresses as before.
      rmSync(disk.folder, { recursive: true });
      cpSync(after, disk.folder, { recursive: true });
      await restart(disk.folder, words, program);
      count.restarts++;
    }
    return { cuts, ...count, received, repeated };
  } finally {
    disk.remove();
    await receiver.close();
  }
}

/** Makes single syncs fail, like a disk with bad sectors. */
async function failSyncs(disk: FaultyDisk, milliseconds: number): Promise<void> {
  for (const end = performance.now() + milliseconds; performance.now() < end; ) {
    await pause(longestMs * Math.random());
    disk.failNextSync();
  }
}

/**
 * Writes until a random moment after `isEnough`, or until the server stops, then kills it. Returns the number of acknowledged
 * writes.
 */
async function writeTo(
  { child, token, url }: Awaited<ReturnType<typeof serveOn>>,
  isEnough = (): boolean => true,
): Promise<number> {
  const end = performance.now() + longestMs * Math.random();
  let writes = 0;
  const write = async (): Promise<void> => {
    while ((performance.now() < end || !isEnough()) && child.exitCode === null) {
      const reply = await unlessEnded(post(url, token, '/api/customers/', { name: 'Customer' }));
      if (reply?.status === 201) writes++;
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  if (child.kill('SIGKILL')) await once(child, 'close');
  return writes;
}

const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .slice(0, -1)
    .filter((line) => isRecord(line));

/** Reads the trail; undefined without a database that has one. */
function trailIn(folder: string): Trail | undefined {
  const path = join(folder, 'tenantry.db');
  // A start would reject this.
  rejectDamagedHeader(`${path}-wal`);
  const db = new SQLite(path);
  try {
    db.pragma('synchronous = OFF');
    const rows = db.prepare('SELECT id, record, private, hash FROM audit_record ORDER BY id').all() as {
      id: number;
      record: string;
      private: string | null;
      hash: string;
    }[];
    const lines = rows.map(
      (row) => [row.id, `${row.record.slice(0, -1)},"private":${row.private},"hash":"${row.hash}"}`] as const,
    );
    const sinks = db.prepare('SELECT name, received FROM audit_sink').raw().all() as [string, number][];
    return { lines: new Map(lines), received: Object.fromEntries(sinks) };
  } finally {
    db.close();
  }
}

/** Checks the database and the file after a cut. Returns whether the file ends inside a batch. */
function requireReceived(folder: string, delivered: readonly string[]): boolean {
  const trail = trailIn(folder);
  if (!trail) throw new Error('A cut of the power left no audit trail');
  const path = join(folder, file);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const inFile = new Set(linesIn(text));
  const present = new Set(trail.lines.values());
  const atReceiver = new Set(delivered);
  for (const [id, line] of trail.lines) {
    if (id <= (trail.received.file ?? 0) && !inFile.has(line))
      throw new Error(`The file lost the record ${id}: ${line}`);
    if (id <= (trail.received.url ?? 0) && !atReceiver.has(line))
      throw new Error(`The receiver never got the record ${id}, which counts as received`);
  }
  for (const line of delivered)
    if (!present.has(line)) throw new Error(`The receiver got a record that the database lost: ${line}`);
  return text !== '' && (!text.endsWith('\n') || text.includes('\0'));
}

/** Starts a server on the disk after a cut. Throws unless the file then has every record, in order. */
async function restart(folder: string, words: readonly string[], command: readonly string[]): Promise<void> {
  const program = new Program(nativeCache, [process.execPath, ...command]);
  try {
    const server = await program.serve(['--data', folder, ...words, '--admin-listen', '127.0.0.1:0']);
    await eventually('the file has all records', () => hasAll(String(server.startup.admin)), 60);
    const expected = [...(trailIn(folder)?.lines.values() ?? [])];
    await server.stop();
    const text = readFileSync(join(folder, file), 'utf8');
    const lines = linesIn(text);
    const wrong = expected.findIndex((line, i) => line !== lines[i]);
    if (wrong !== -1 || text.includes('\0'))
      throw new Error(`After a start, line ${wrong + 1} of the file is not the record: ${lines[wrong]}`);
  } finally {
    await program.end();
  }
}

/** Whether the file has every record. */
async function hasAll(admin: string): Promise<boolean> {
  const { audit_sinks: sinks } = (await (await fetch(`${admin}/readyz`)).json()) as {
    audit_sinks: Record<string, { records: number }>;
  };
  return sinks.file?.records === 0;
}

/** The part of `npm run chaos`. */
export const auditPower: Part = ({ cuts, program }) => cutPowerOfSinks(cuts, 20_000, program);
