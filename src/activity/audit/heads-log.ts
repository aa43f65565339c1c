/** The file audit-heads.log in a data folder: one line of JSON per signed head (audit.md 5). */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readText, syncFolder } from '../../kernel/files.ts';

/** The content of a head. */
export interface HeadStatement {
  readonly chain: string;
  readonly sequence: number;
  /** `hash` of the record. */
  readonly hash: string;
  readonly at: string;
  /** In the last head of a key: the id of its successor. */
  readonly next_key?: string;
  /** In a checkpoint: the number of removed records, including this one. */
  readonly removed?: number;
  /** In an export: its number of records. */
  readonly records?: number;
  /** In an export that ends earlier: the newest sequence of the chain. */
  readonly newest?: number;
}

/** A signed head. Its signature is Ed25519 over the canonical JSON of the other members, in base64. */
export interface Head extends HeadStatement {
  /** Id of the signing key. */
  readonly key: string;
  readonly signature: string;
}

export const headsLogFile = (folder: string): string => join(folder, 'audit-heads.log');

const newline = 0x0a;

/** A command that replaces the database of a folder. */
type ReplacingCommand = 'restore' | 'import' | 'promote';

/** Appends a head, after terminating a line that a crash truncated. Returns when it is on disk. */
export const appendHead = (folder: string, head: Head): void => append(folder, head);

/** Marks the replacement of a folder's database. Earlier heads belong to another history (audit.md 3). */
export const appendReplacement = (folder: string, command: ReplacingCommand): void =>
  append(folder, { replaced_by: command });

function append(folder: string, value: object): void {
  const file = headsLogFile(folder);
  const isNew = !existsSync(file);
  const descriptor = openSync(file, 'a+', 0o640);
  try {
    const line = `${JSON.stringify(value)}\n`;
    writeSync(descriptor, endsLine(descriptor, file) ? line : `\n${line}`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  if (isNew) syncFolder(dirname(file));
}

function endsLine(descriptor: number, file: string): boolean {
  const { size } = statSync(file);
  const last = Buffer.alloc(1);
  if (size > 0) readSync(descriptor, last, 0, 1, size - 1);
  return size === 0 || last[0] === newline;
}

const isReplacement = (value: ReturnType<typeof objectOf>): value is { readonly replaced_by: unknown } =>
  value !== undefined && 'replaced_by' in value;

/** The log of a folder. */
interface HeadsLog {
  /** Heads since the database was last replaced. */
  readonly heads: readonly Head[];
  /** Heads before that. */
  readonly replaced: readonly Head[];
  /** The command that replaced it, if no head follows. */
  readonly replacedBy: string | undefined;
}

/** Reads the log of a folder; empty if it is missing. Ignores truncated lines, which were never reported. */
export function readHeadsLog(folder: string): HeadsLog {
  const file = headsLogFile(folder);
  let [heads, replaced]: [Head[], Head[]] = [[], []];
  let replacedBy: string | undefined;
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    const value = objectOf(line);
    const head = headOf(value);
    if (head) heads.push(head);
    if (isReplacement(value)) {
      replacedBy = String(value.replaced_by);
      replaced = [...replaced, ...heads];
      heads = [];
    }
  }
  return { heads, replaced, replacedBy: heads.length === 0 ? replacedBy : undefined };
}

/** Returns the heads in a file: lines of the heads log, or server log lines with the member `head`. Throws a readable error. */
export function readHeads(file: string): Head[] {
  return readText(file)
    .split('\n')
    .flatMap((line, i) => {
      if (line.trim() === '') return [];
      const value = objectOf(line);
      const head = headOf(value);
      if (!head && !isReplacement(value)) throw new Error(`line ${i + 1} of ${file} is not a head`);
      return head ?? [];
    });
}

/** Parses a line with a JSON object; undefined for any other line. */
export function objectOf(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the object if it is a head, or its member `head`; undefined otherwise. */
const headOf = (value: ReturnType<typeof objectOf>): Head | undefined =>
  value && asHead('head' in value ? value.head : value);

/** Returns a value if it is a head. */
export function asHead(value: unknown): Head | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { chain, sequence, hash, at, key, signature }: Readonly<Record<string, unknown>> = { ...value };
  const isHead =
    [chain, hash, at, key, signature].every((member) => typeof member === 'string') && Number.isInteger(sequence);
  return isHead ? (value as Head) : undefined;
}
