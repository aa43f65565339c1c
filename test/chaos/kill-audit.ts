/**
 * Kills the server, and commands beside it, while both append to the audit trail and a file receives the records. After each
 * kill, the trail verifies. At the end, each acknowledged write has its record in the database and in the file, whose copy
 * verifies, too.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { nativeCache, Program } from '../support/program.ts';
import { killAtRandom, Observer, requireEnded, requireHealthy } from './observer.ts';
import type { Part } from './part.ts';

export interface AuditFigures {
  readonly rounds: number;
  readonly writes: number;
  /** Commands that were killed before their end. */
  readonly killedCommands: number;
  /** Lines that the file received, and how many of them it received twice. */
  readonly lines: number;
  readonly repeated: number;
}

const sink = 'sink.ndjson';
const longestMs = 600;

/** Runs the rounds. Throws a readable error when a record is missing or does not verify. */
export async function killAudited(rounds: number): Promise<AuditFigures> {
  const program = new Program(nativeCache);
  const path = (name: string): string => join(program.folder, name);
  const serve = () => program.serve(['--audit-file', sink]);
  let killedCommands = 0;
  try {
    await (await serve()).stop();
    const observer = await Observer.of(program);
    requireEnded(await program.run(['user', 'add', 'carol']), ['user', 'add']);
    for (let round = 0; round < rounds; round++) {
      const server = await serve();
      const beside = [
        ['audit', 'redact', 'carol', '--reason', 'She asked for it.'],
        ['user', 'add', `user-${round}`],
        ['backup', `backup-${round}`],
      ][round % 3] as string[];
      const [, isKilled] = await Promise.all([
        observer.writeUntilKilled(server, longestMs),
        killAtRandom(program, beside, longestMs),
      ]);
      const isRotating = round % 4 === 3;
      const isRotationKilled = isRotating && (await killAtRandom(program, ['rotate-key'], longestMs));
      killedCommands += Number(isKilled) + Number(isRotationKilled);
      await requireHealthy(program);
    }
    const server = await serve();
    const ask = async (target: string) => (await observer.get(`${server.url}${target}`)).json();
    await observer.requireAll(server.url);
    writeFileSync(path('keys'), JSON.stringify(await ask('/api/audit/key/')));
    const waiting = async (): Promise<number> =>
      ((await ask('/api/operation/')) as { audit_sinks: { waiting: number }[] }).audit_sinks[0]?.waiting ?? Number.NaN;
    await eventually('the file has received all records', async () => (await waiting()) === 0, 60);
    await server.stop();
    for (const words of [[], ['--copy', sink]]) {
      const { code, stderr, stdout } = await program.run(['audit', 'verify', ...words, '--key', 'keys']);
      if (code !== 0) throw new Error(`audit verify ${words.join(' ')} ended with ${code}: ${stdout}${stderr}`);
    }
    const lines = readFileSync(path(sink), 'utf8').trimEnd().split('\n');
    const created = new Set(lines.map((line) => /"object":{"type":"customers","uuid":"(\w+)"}/.exec(line)?.[1]));
    for (const uuid of observer.acknowledged.keys())
      if (!created.has(uuid)) throw new Error(`The file has no record of the customer ${uuid}`);
    const repeated = lines.length - new Set(lines).size;
    return { rounds, writes: observer.acknowledged.size, killedCommands, lines: lines.length, repeated };
  } finally {
    await program.end();
  }
}

/** The part of `npm run chaos`. */
export const audit: Part = ({ rounds }) => killAudited(rounds);
