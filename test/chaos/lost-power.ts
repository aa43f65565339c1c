/** The contents of a disk after a power cut, from the trace of operations on it (faults.c). */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** The disk writes a sector completely or not at all. Of several sectors, it may have written any. */
const sector = 512;
const headBytes = 16;

type Change = { readonly offset: number; readonly data: Buffer } | { readonly length: number };

/** Returns `length` bytes, with spare capacity after them. */
interface Content {
  bytes: Buffer;
  length: number;
}

interface TracedFile {
  /** Contents that are certainly on the disk. */
  durable: Content;
  /** Operations since the last sync. Each of them may be on the disk. */
  pending: Change[];
}

/**
 * Yields folders as the disk would have them after power cuts at these positions of a trace, one after the other. Creates the
 * folder again for each cut. All of its files are directly in it, unless it stands for another folder with earlier contents.
 */
export function* lostPower(
  trace: string,
  cuts: readonly number[],
  folder: string,
  original?: { readonly folder: string; readonly before: string },
): Generator<number> {
  const chance = Math.random;
  const bytes = readFileSync(trace);
  const files = original ? contentsOf(original) : new Map<string, TracedFile>();
  let at = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    for (let next = end(bytes, at); next <= cut; next = end(bytes, at)) {
      replay(bytes, at, files, chance);
      at = next;
    }
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    for (const [path, { durable, pending }] of files) {
      const { bytes: left, length } = torn(durable, pending, chance);
      const file = join(folder, original ? relative(original.folder, path) : basename(path));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, left.subarray(0, length));
    }
    yield cut;
  }
}

function contentsOf({ before, folder }: { folder: string; before: string }): Map<string, TracedFile> {
  const files = new Map<string, TracedFile>();
  for (const entry of readdirSync(before, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    const bytes = readFileSync(path);
    files.set(join(folder, relative(before, path)), { durable: { bytes, length: bytes.length }, pending: [] });
  }
  return files;
}

/** An operation on a file: `data` is the written bytes, or the new path of a rename or link. */
interface Done {
  readonly operation: 'W' | 'T' | 'S' | 'U' | 'R' | 'L';
  readonly hasFailed: boolean;
  readonly path: string;
  readonly offset: number;
  readonly data: Buffer;
}

/** All operations, in order. */
export function* recordsOf(trace: string): Generator<Done> {
  const bytes = readFileSync(trace);
  for (let at = 0; end(bytes, at) <= bytes.length; at = end(bytes, at)) yield recordAt(bytes, at);
}

export type RecordEnd = Pick<Done, 'operation' | 'hasFailed' | 'path' | 'offset'> & { readonly at: number };

/** The end of each record, and its operation. */
export function recordEnds(trace: string): RecordEnd[] {
  const bytes = readFileSync(trace);
  const ends = [];
  for (let at = 0; end(bytes, at) <= bytes.length; at = end(bytes, at)) {
    const { hasFailed, offset, operation, path } = recordAt(bytes, at);
    ends.push({ operation, hasFailed, path, offset, at: end(bytes, at) });
  }
  return ends;
}

function end(bytes: Buffer, at: number): number {
  if (at + headBytes > bytes.length) return Number.POSITIVE_INFINITY;
  return at + headBytes + bytes.readUInt16LE(at + 2) + bytes.readUInt32LE(at + 12);
}

function recordAt(bytes: Buffer, at: number): Done {
  const start = at + headBytes + bytes.readUInt16LE(at + 2);
  return {
    operation: String.fromCharCode(bytes[at] as number) as Done['operation'],
    hasFailed: bytes[at + 1] === 1,
    path: bytes.toString('utf8', at + headBytes, start),
    offset: Number(bytes.readBigUInt64LE(at + 4)),
    data: bytes.subarray(start, start + bytes.readUInt32LE(at + 12)),
  };
}

function replay(bytes: Buffer, at: number, files: Map<string, TracedFile>, chance: () => number): void {
  const { data, hasFailed, offset, operation, path } = recordAt(bytes, at);
  // A folder, or a file without writes.
  if (operation === 'S' && !files.has(path)) return;
  const file = files.get(path) ?? { durable: { bytes: Buffer.alloc(0), length: 0 }, pending: [] };
  files.set(path, file);
  if (operation === 'W') file.pending.push({ offset, data });
  else if (operation === 'T') file.pending.push({ length: offset });
  else if (operation === 'S') {
    // After a failed sync, the kernel considers all pages written, but only some are, and the others are never written.
    file.durable = hasFailed ? torn(file.durable, file.pending, chance) : applied(file.durable, file.pending);
    file.pending = [];
  } else if (operation !== 'L') files.delete(path);
  if (operation === 'R' || operation === 'L') files.set(data.toString(), file);
}

/** Applies all changes to the content. */
function applied(content: Content, changes: readonly Change[]): Content {
  for (const change of changes) {
    if ('length' in change) resize(content, change.length);
    else {
      resize(content, Math.max(content.length, change.offset + change.data.length));
      change.data.copy(content.bytes, change.offset);
    }
  }
  return content;
}

/** Applies some sectors of the changes; sometimes none, or all. */
function torn(durable: Content, changes: readonly Change[], chance: () => number): Content {
  const share = 1.5 * chance() - 0.25;
  const some = changes.flatMap((change): Change[] => {
    if ('length' in change) return chance() < share ? [change] : [];
    const sectors: Change[] = [];
    for (let i = 0; i < change.data.length; i += sector)
      if (chance() < share) sectors.push({ offset: change.offset + i, data: change.data.subarray(i, i + sector) });
    return sectors;
  });
  return applied({ bytes: Buffer.from(durable.bytes), length: durable.length }, some);
}

/** A file grows with zeros. */
function resize(content: Content, length: number): void {
  if (length > content.bytes.length)
    content.bytes = Buffer.concat([content.bytes, Buffer.alloc(2 * length - content.bytes.length)]);
  if (length < content.length) content.bytes.fill(0, length, content.length);
  content.length = length;
}
