/**
 * The sample data in the program: a line of JSON, then the bytes of an SQLite database in which marks stand for the values that
 * move with now: instants, the times in uuids, and months. A mark is as long as its value, and contains the value's number in a
 * sorted list, so that rows and index entries keep their places. See src/decisions/snapshots.md.
 */
import { present } from '../../kernel/present.ts';
import { sinceMeasured } from './measurements.ts';
import { monthName, monthOf } from './months.ts';

/** The line of JSON. */
export interface Contents {
  /** Schema version of the tables. */
  readonly schema: number;
  /** The tables with rows. */
  readonly tables: readonly string[];
  /** Distances of the marked instants from now in milliseconds, ascending. */
  readonly instants: readonly number[];
  /** Distances of the marked months from the month of the last measurement, ascending. */
  readonly months: readonly number[];
  /** Increase in usage of each quota of the deployment. */
  readonly usages: Readonly<Record<string, number>>;
}

export interface DemoImage extends Contents {
  /** The bytes of the database. */
  readonly database: Buffer;
}

/** Lengths in bytes of marks and their values: an integer in a record, the time of a uuid in hexadecimal, and `YYYY-MM`. */
const lengths = { instant: 8, uuid: 12, month: 7 };
type Kind = keyof typeof lengths;

/**
 * The start of every mark: a zero, so that uuids keep their place among other texts, and bytes that do not occur in texts. The
 * initial of the kind follows, then the number.
 */
export const markStart = '0\x7fat';
const startWord = Buffer.from(markStart, 'latin1').readInt32BE();
const numberAt = markStart.length + 1;
const radix = 32;

/** Returns the mark of a value. Throws if the number is too large. */
export function markOf(kind: Kind, number: number): string {
  const mark = `${markStart}${kind.slice(0, 1)}${number.toString(radix).padStart(lengths[kind] - numberAt, '0')}`;
  if (mark.length !== lengths[kind]) throw new Error(`too many values of kind ${kind}`);
  return mark;
}

/** Joins the parts of an image. */
export const joinImage = (contents: Contents, database: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${JSON.stringify(contents)}\n`), database]);

/** Splits an image into its parts. */
export function splitImage(image: Buffer): DemoImage {
  const end = image.indexOf('\n');
  const contents: Contents = JSON.parse(image.toString('utf8', 0, end));
  return { ...contents, database: image.subarray(end + 1) };
}

/** The month that months are relative to. */
export const baseMonth = (now: number): number => monthOf(now - sinceMeasured);

/** Replaces the marks in the database of an image by their values at an instant. Changes the bytes in place. */
export function fillMarks({ database, instants, months }: DemoImage, now: number): void {
  const times = new DataView(new ArrayBuffer(instants.length * lengths.instant));
  for (const [number, distance] of instants.entries()) {
    const instant = now + distance * 1000;
    times.setInt32(number * lengths.instant, Math.floor(instant / 2 ** 32));
    times.setUint32(number * lengths.instant + 4, instant % 2 ** 32);
  }
  const milliseconds = Math.floor(now / 1000);
  const digits = instants.map((distance) => (milliseconds + distance).toString(16).padStart(lengths.uuid, '0'));
  const names = months.map((distance) => monthName(baseMonth(now) + distance));
  const values: { readonly length: number; readonly bytes: Uint8Array }[] = [];
  const define = (kind: Kind, bytes: Uint8Array): void => {
    values[kind.charCodeAt(0)] = { length: lengths[kind], bytes };
  };
  define('instant', new Uint8Array(times.buffer));
  define('uuid', Buffer.from(digits.join(''), 'latin1'));
  define('month', Buffer.from(names.join(''), 'latin1'));

  /** Replaces the mark at an offset. Returns the offset after it, because a value may contain the bytes of a mark. */
  const fill = (at: number): number => {
    const { bytes, length } = present(values[database[at + markStart.length] ?? 0]);
    let number = 0;
    for (let n = at + numberAt; n < at + length; n++) number = number * radix + digitOf(database[n] ?? 0);
    for (let n = 0; n < length; n++) database[at + n] = bytes[number * length + n] ?? 0;
    return at + length;
  };
  const view = new DataView(database.buffer, database.byteOffset, database.length);
  for (let at = 0; at < database.length - 4; ) {
    const word = view.getInt32(at);
    // Most words have no rare byte, which is the second of a mark. So the next one that may start a mark is three bytes further.
    if (!hasRareByte(word)) at += 3;
    else at = word === startWord ? fill(at) : at + 1;
  }
}

/** Whether one of the four bytes of a word is 0x7f, the one that does not occur in texts. */
function hasRareByte(word: number): boolean {
  const difference = word ^ 0x7f7f7f7f;
  return ((difference - 0x01010101) & ~difference & 0x80808080) !== 0;
}

/** Returns the value of a digit, which is `0` to `9` or `a` to `v`. */
const digitOf = (code: number): number => (code < 0x3a ? code - 0x30 : code - 0x57);
