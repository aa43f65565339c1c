import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemClock } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { openHandle } from '../../kernel/durability/handle.ts';
import { embeddedMigrations } from '../../kernel/native/embedded.ts';
import { keyFile, requireKeyFile } from '../../kernel/security/secrets.ts';
import { version } from '../../kernel/version.ts';
import { databaseFile, prepareFolder } from '../data/data-folder.ts';
import { ndjson } from './ndjson.ts';
import { postgres } from './postgres.ts';
import { type Exported, tablesOf } from './tables.ts';

const forms: Readonly<Record<string, (exported: Exported) => Iterable<string>>> = { ndjson, postgres };

/** Names of the forms of an export. */
export const exportForms = Object.keys(forms);

/**
 * Writes all data of a folder as it is at one moment; a server may be writing to it. Rejects with a sentence when the form is
 * unknown or the database that of another version.
 */
export async function exportData(config: Config, folder: string, form: string, target: Writable): Promise<void> {
  const write = Object.hasOwn(forms, form) ? forms[form] : undefined;
  if (!write) throw new Error(`there is no form ${form}; known: ${exportForms.join(', ')}`);
  const addon = prepareFolder(config, folder);
  const keys = config.encryption_keys.length > 0 ? null : keysOf(folder);
  const handle = openHandle(join(folder, databaseFile), addon, { readonly: true });
  try {
    handle.exec('BEGIN');
    const schema = Number(handle.pragma('user_version', { simple: true }));
    if (schema !== embeddedMigrations().length)
      throw new Error(
        `the database has schema ${schema}, and this version's is ${embeddedMigrations().length}: export it with its own version, or start this one first`,
      );
    const exported = { handle, tables: tablesOf(handle), schema, version, made: systemClock.now(), keys };
    await pipeline(Readable.from(inPieces(write(exported))), target, { end: false });
  } finally {
    handle.close();
  }
}

function keysOf(folder: string): string | null {
  const file = keyFile(folder);
  if (!existsSync(file)) return null;
  requireKeyFile(file);
  return readFileSync(file, 'utf8');
}

/** Characters that are written at once. */
const pieceLength = 65_536;

/** The same text in fewer pieces. */
function* inPieces(lines: Iterable<string>): Generator<string> {
  let piece = '';
  for (const line of lines) {
    piece += line;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}
