/**
 * Kills backups to an object store that fails at random. After each round, every listed backup restores, and the newest verified
 * backup still exists.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { ObjectStore } from '../support/object-store.ts';
import { nativeCache, Program } from '../support/program.ts';
import { durationOf, killAtRandom, requireEnded } from './observer.ts';
import type { Part } from './part.ts';

export interface ScheduledFigures {
  readonly rounds: number;
  readonly kills: number;
  /** Requests that the store failed or interrupted. */
  readonly faults: number;
  /** Backups that were complete, and restored. */
  readonly complete: number;
  /** Backups that the retention has removed. */
  readonly removed: number;
}

/** Share of requests that fail, and the faults. */
const failing = 0.08;
const faults = [500, 503, 403, 'cut'] as const;

/** Runs the rounds. Throws a readable error when a check fails. */
export async function killScheduled(rounds: number): Promise<ScheduledFigures> {
  const program = new Program(nativeCache);
  const store = await ObjectStore.start();
  let [kills, faultCount, complete, removed] = [0, 0, 0, 0];
  try {
    writeFileSync(join(program.folder, 'secret'), store.credentials.secretAccessKey);
    const identity = await generateX25519Identity();
    writeFileSync(join(program.folder, 'identity'), identity);
    writeFileSync(join(program.folder, 'recipients'), await identityToRecipient(identity));
    const first = ['user', 'add', 'admin', '--staff', '--data', 'data'];
    requireEnded(await program.run(first), first);
    const options = [
      ...[...store.options(), '--backup-recipients-file', 'recipients', '--backup-identity-file', 'identity'],
      ...['--backup-s3-access-key-id', store.credentials.accessKeyId, '--backup-s3-secret-access-key-file', 'secret'],
      ...['--backup-keep', '1d', '--data', 'data'],
    ];
    const longest = 2.2 * (await durationOf(program, ['backups', 'now', ...options]));
    const good = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      store.fault = () => {
        if (Math.random() >= failing) return undefined;
        faultCount++;
        return faults[Math.floor(Math.random() * faults.length)];
      };
      if (await killAtRandom(program, ['backups', 'now', ...options], longest)) kills++;
      store.fault = () => undefined;
      const list = ['backups', 'list', '--json', ...options];
      const ended = await program.run(list);
      requireEnded(ended, list);
      const listed: string[] = JSON.parse(ended.stdout).map(({ name }: { name: string }) => name);
      for (const name of listed) {
        if (good.has(name)) continue;
        const verify = ['backups', 'verify', name, ...options];
        requireEnded(await program.run(verify), verify);
        good.add(name);
        complete++;
      }
      for (const name of good) {
        if (listed.includes(name)) continue;
        good.delete(name);
        removed++;
      }
      if (complete > 0 && good.size === 0) throw new Error('The last good backup was removed');
    }
    return { rounds, kills, faults: faultCount, complete, removed };
  } finally {
    await store.close();
    await program.end();
  }
}

export const scheduled: Part = ({ rounds }) => killScheduled(3 * rounds);
