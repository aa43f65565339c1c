/**
 * Reads that would keep everybody waiting are put off: whoever asks is told so by `PutOff`, has a thread answer them, and asks
 * again with the answers at hand. See src/decisions/reading-thread.md.
 */
import type { Part, Walk } from './access.ts';
import type { Kept } from './kept.ts';
import { Allowance } from './lately.ts';
import type { Sql, Value } from './sql.ts';
import type { Statements } from './statements.ts';
import type { Basis, Versions } from './versions.ts';

/** A statement with its values, as the thread is asked. */
export interface Question {
  readonly text: string;
  readonly values: readonly Value[];
  /** Whether the first column of its rows is wanted alone. */
  readonly isPlucked: boolean;
  /** What its answer changes with; default: what the statement reads. */
  readonly reads?: readonly Part[];
}

/** What the thread has found: rows, or values. */
export interface Found {
  readonly rows: readonly unknown[];
  readonly milliseconds: number;
}

/** Thrown in place of reading for long; without questions to let others have a turn. */
export class PutOff extends Error {
  constructor(readonly questions: readonly Question[]) {
    super('A read that takes long');
  }
}

/** What has been made of the objects of a long list so far, by their ids, and from what. */
export interface Progress<T> {
  readonly made: Map<number, T>;
  readonly basis: Basis;
}

/** Milliseconds after which a request that takes many steps lets others have a turn. */
const turn = 6;
/** A request is begun anew at most so often; what it asks for then is read at once. */
const mostTimes = 30;

/** The reads of one request that were put off, with their answers. */
export class PutOffReads {
  /** Whether something has been told that is no longer so: what is made from it is not to be remembered. */
  isOutdated = false;
  #answers: Map<string, { readonly rows: readonly unknown[]; readonly basis: Basis } | 'none'> | undefined;
  #begun: Map<string, Progress<unknown>> | undefined;
  #times = 0;
  #started = 0;
  #hasStepped = false;

  constructor(
    /** Who asks. */
    readonly holder: string,
  ) {}

  /** The request is looked at, for the first time or anew. */
  begin(): void {
    this.#started = performance.now();
    this.#hasStepped = false;
  }

  /** To be called before each step of something long. Throws PutOff when others are to have a turn. */
  step(): void {
    if (this.#hasStepped && performance.now() - this.#started >= turn) throw new PutOff([]);
    this.#hasStepped = true;
  }

  /** Whether a read may be put off once more. */
  get isOpen(): boolean {
    return this.#times < mostTimes;
  }

  /** Whether a question has been asked. */
  has(question: Question): boolean {
    return this.#answers?.has(keyOf(question)) ?? false;
  }

  /** The answer to a question, if there is one. */
  take(question: Question, versions: Versions): readonly unknown[] | undefined {
    const answer = this.#answers?.get(keyOf(question));
    if (answer === undefined || answer === 'none') return undefined;
    if (!versions.isCurrent(answer.basis)) this.isOutdated = true;
    return answer.rows;
  }

  /** How far what has this name has come; nothing yet, as of `basis`, when it is first asked for. */
  progress<T>(name: string, basis: () => Basis, versions: Versions): Progress<T> {
    // Whoever gives something a name knows what it is: hence the cast.
    const known = this.#begun?.get(name) as Progress<T> | undefined;
    if (known && !versions.isCurrent(known.basis)) this.isOutdated = true;
    const progress = known ?? { made: new Map(), basis: basis() };
    this.#begun ??= new Map();
    this.#begun.set(name, progress);
    return progress;
  }

  /** Takes what the thread has found as of `bases`; without it the questions are answered at once. */
  answered(questions: readonly Question[], found?: readonly Found[], bases: readonly Basis[] = []): void {
    this.#times++;
    this.#answers ??= new Map();
    for (const [i, question] of questions.entries()) {
      const [rows, basis] = [found?.[i]?.rows, bases[i]];
      this.#answers.set(keyOf(question), rows && basis ? { rows, basis } : 'none');
    }
  }
}

const keyOf = ({ isPlucked, text, values }: Question): string => `${isPlucked} ${text} ${JSON.stringify(values)}`;

/** Milliseconds of a step in which objects of a list are represented, and how many the first one takes. */
const stepTime = 3;
const firstStep = 4;

/** Represents the objects of long lists in steps of about the same time. */
export class Steps {
  /** Milliseconds of an object, by the text of its query. */
  readonly #each = new Map<string, number>();

  /** Makes what is missing of these ids by `make`, which answers for each of some. Throws PutOff. */
  run<T>(
    text: string,
    reads: PutOffReads,
    { made }: Progress<T>,
    ids: readonly number[],
    make: (ids: readonly number[]) => readonly T[],
  ): T[] {
    const missing = ids.filter((id) => !made.has(id));
    for (let from = 0; from < missing.length; ) {
      reads.step();
      const each = this.#each.get(text);
      const size = each === undefined ? firstStep : Math.max(1, Math.floor(stepTime / each));
      const some = missing.slice(from, from + size);
      from += some.length;
      const started = performance.now();
      for (const [i, one] of make(some).entries()) made.set(some[i] ?? 0, one);
      const taken = (performance.now() - started) / some.length;
      this.#each.set(text, each === undefined ? taken : (each + taken) / 2);
    }
    return ids.flatMap((id) => made.get(id) ?? []);
  }
}

/** Milliseconds below which a read of the thread is done without it the next time, and above which one goes to the thread. */
const [short, long] = [2, 5];
/** So many short reads may follow each other. */
const mostShort = 3;
/** Of so many reads it is known that they are short. */
const mostKnown = 20_000;
/** Changes after which it is looked anew whether a table has become large. */
const mostChanges = 1000;

/**
 * Tells which reads take long. Whatever walks through a whole large table does. What walks through a part of it may: it is read by
 * the thread until that has found it short, with these very values.
 */
export class LongReads {
  /** Of a large table there are more rows than this. */
  readonly manyRows: number = 10_000;
  readonly #short = new Allowance(mostKnown).map<string, true>(() => 1);
  readonly #large = new Set<string>();
  readonly #small = new Map<string, number>();
  #asOf = -1;

  constructor(
    private readonly statements: Statements,
    private readonly versions: Versions,
  ) {}

  /** Whether a read is to be put off; `visits` is how many rows it looks at where it need not sort. */
  has(kept: Kept, values: Sql['values'], visits = Number.POSITIVE_INFINITY): boolean {
    const large = this.#largeWalks(kept, visits);
    if (large.length === 0) return false;
    return large.some(({ isWhole }) => isWhole) || !this.#short.get(answerKey(kept, values));
  }

  /** Whether reads are to be put off that follow each other: one of them is, or many short ones are long together. */
  hasSome(reads: readonly (readonly [Kept, Sql['values']])[]): boolean {
    if (reads.some(([kept, values]) => this.has(kept, values))) return true;
    return reads.filter(([kept]) => this.#largeWalks(kept).length > 0).length > mostShort;
  }

  #largeWalks(kept: Kept, visits = Number.POSITIVE_INFINITY): readonly Walk[] {
    const { sorts, walks } = this.statements.accessOf(kept);
    if (walks.length === 0 || (visits <= this.manyRows && !sorts)) return [];
    return walks.filter(({ table }) => this.isLarge(table));
  }

  /** How long a read took, in the thread or here. */
  took(kept: Kept, values: Sql['values'], milliseconds: number, inThread: boolean): void {
    if (inThread && milliseconds < short) this.#short.set(answerKey(kept, values), true);
    else if (milliseconds > long) this.#short.delete(answerKey(kept, values));
  }

  /** Whether a table has many rows. */
  isLarge(table: string): boolean {
    if (this.#large.has(table)) return true;
    if (this.#asOf !== this.versions.generation) this.#small.clear();
    this.#asOf = this.versions.generation;
    const seen = this.#small.get(table);
    if (seen !== undefined && this.versions.changes - seen < mostChanges) return false;
    const text = `SELECT 1 FROM "${table}" LIMIT 1 OFFSET ?`;
    const isLarge = this.statements.values<number>(text).get([this.manyRows]) !== undefined;
    if (isLarge) this.#large.add(table);
    else this.#small.set(table, this.versions.changes);
    return isLarge;
  }
}

/** By which the answer to a query is known. */
export const answerKey = ({ number }: Kept, values: Sql['values']): string =>
  `${number} ${values.length === 0 ? '' : JSON.stringify(values)}`;
