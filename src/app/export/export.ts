import { join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { version } from '../../kernel/app.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/config.ts';
import { openHandle } from '../../kernel/durability/handle.ts';
import { embeddedMigrations } from '../../kernel/native/embedded.ts';
import { readKeys } from '../backup/backup.ts';
import { databaseFile, prepareFolder } from '../data/data-folder.ts';
import { ndjson } from './ndjson.ts';
import { postgres } from './postgres.ts';
import { type ExportSource, tablesOf } from './tables.ts';

const formats: Readonly<Record<string, (exported: ExportSource) => Iterable<string>>> = { ndjson, postgres };

/** The supported formats. */
export const exportFormats = Object.keys(formats);

/**
 * Writes a consistent snapshot of a data folder, even while a server writes to it. Rejects with a readable error if the format is
 * unknown or the database has the schema of another version.
 */
export async function exportData(config: Config, folder: string, format: string, target: Writable): Promise<void> {
  const write = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (!write) throw new Error(`unknown format ${format}; known: ${exportFormats.join(', ')}`);
  const addon = prepareFolder(config, folder);
  const keys = config.encryption_keys.length > 0 ? null : readKeys(folder);
  const handle = openHandle(join(folder, databaseFile), addon, { readonly: true });
  try {
    handle.exec('BEGIN');
    const schema = Number(handle.pragma('user_version', { simple: true }));
    if (schema !== embeddedMigrations().length)
      throw new Error(
        `the database has schema ${schema}, but this version requires ${embeddedMigrations().length}: export with the version that wrote it, or upgrade by starting this version`,
      );
    const exported = { handle, tables: tablesOf(handle), schema, version, made: systemClock.now(), keys };
    await pipeline(Readable.from(chunksOf(write(exported))), target, { end: false });
  } finally {
    handle.close();
  }
}

/** Characters per write. */
const chunkLength = 65_536;

/** Joins lines into larger chunks. */
function* chunksOf(lines: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const line of lines) {
    chunk += line;
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
