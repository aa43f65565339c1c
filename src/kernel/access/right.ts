import type { Config } from '../config/config.ts';
import type { Sql } from '../db/sql.ts';
import { forbidden } from '../http/error.ts';
import type { Caller } from './caller.ts';
import type { Request } from './request.ts';
import { ownsCustomer } from './rights.ts';

/** The text of a 403 that says no more. */
export const forbiddenText = 'You do not have permission to perform this action.';

/** The text of the 403 that a caller gets about a subject; undefined when the caller may. */
type Denial<S> = (request: Request, subject: S) => string | undefined;

/** The settings that are switched on or off. */
type Switch = { [K in keyof Config]: Config[K] extends boolean ? K : never }[keyof Config];

/**
 * Who may do something with a subject: what decides, and the words that OPTIONS and the documentation show for it. The
 * subject is what the right is about, such as the row that is to be changed.
 */
export class Right<S = unknown> {
  constructor(
    /** Who has it: `owners of the customer`. */
    readonly words: string,
    readonly denialReason: Denial<S>,
  ) {}

  /** The words as a sentence. */
  get allowedFor(): string {
    return `${this.words.charAt(0).toUpperCase()}${this.words.slice(1)}.`;
  }

  may(request: Request, subject: S): boolean {
    return this.denialReason(request, subject) === undefined;
  }

  /** Throws 403 unless the caller has it. */
  demand(request: Request, subject: S): void {
    const reason = this.denialReason(request, subject);
    if (reason !== undefined) throw forbidden(reason);
  }

  /** The same right where a setting is on. */
  when(setting: Switch): Right<S> {
    return new Right(`${this.words} with the setting ${setting}`, (request, subject) =>
      request.config[setting] ? this.denialReason(request, subject) : forbiddenText,
    );
  }

  /** The same right where a setting is off. */
  unless(setting: Switch): Right<S> {
    return new Right(`${this.words} without the setting ${setting}`, (request, subject) =>
      request.config[setting] ? forbiddenText : this.denialReason(request, subject),
    );
  }

  /** The same right in other words. */
  as(words: string): Right<S> {
    return new Right(words, this.denialReason);
  }
}

/** A right told by who has it and whether that is so. */
export const right = <S = unknown>(words: string, may: (request: Request, subject: S) => boolean): Right<S> =>
  new Right(words, (request, subject) => (may(request, subject) ? undefined : forbiddenText));

/** The same right over what leads to its subject: `rightVia((link) => ({ customer_id: … }), ownersOf('customer_id'))`. */
export const rightVia = <T, S>(subjectOf: (given: T, request: Request) => S, over: Right<S>): Right<T> =>
  new Right(over.words, (request, given) => over.denialReason(request, subjectOf(given, request)));

/** The right of those who have it, unless a further rule denies it with a text of its own. */
export const rightUnlessDenied = <G, S extends G>(granted: Right<G>, denial: Denial<S>): Right<S> =>
  new Right(granted.words, (request, subject) => granted.denialReason(request, subject) ?? denial(request, subject));

/** The right of those who have one and a narrower one, in whose words it is told. */
export const narrowed = <G, S extends G>(granted: Right<G>, narrower: Right<S>): Right<S> =>
  rightUnlessDenied(granted, narrower.denialReason).as(narrower.words);

/** The right of everybody who has one of these. */
export const anyOf = <S>(...rights: readonly Right<S>[]): Right<S> =>
  right(rights.map(({ words }) => words).join('; '), (request, subject) =>
    rights.some((one) => one.may(request, subject)),
  );

export const everybody = right('everybody', () => true);

/** Everybody, of an answer that is made of no more than the objects that the caller sees. */
export const everybodyOver = (objects: string): Right => everybody.as(`everybody, over the ${objects} they see`);

export const staff = right('staff', ({ caller }) => caller.isStaff);

/** Owners of the customer whose id the subject has in a column. */
export const ownersOf = <K extends string>(column: K): Right<Readonly<Record<K, number>>> =>
  right('owners of the customer', ({ caller, db }, subject) => ownsCustomer(db, caller, subject[column]));

/** The user whose id the subject has in a column, in these words: `the author`. */
export const userIn = <K extends string>(column: K, words: string): Right<Readonly<Record<K, number | null>>> =>
  right(words, ({ caller }, subject) => subject[column] === caller.id);

/** Who sees an object: a condition on its row, and the words for it. */
export interface Visibility {
  readonly allowedFor: string;
  readonly condition: (caller: Caller, config: Config) => Sql;
}

/** Who sees the objects of a collection; the words are a sentence's, as those of a right. */
export const visibleTo = (words: string, condition: Visibility['condition']): Visibility => ({
  allowedFor: right(words, () => true).allowedFor,
  condition,
});
