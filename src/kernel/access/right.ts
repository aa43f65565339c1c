import type { Config } from '../config/config.ts';
import type { Sql } from '../db/sql.ts';
import { forbidden } from '../http/error.ts';
import { boundText } from './api-key.ts';
import type { Caller } from './caller.ts';
import type { Request } from './request.ts';
import { ownsCustomer } from './rights.ts';

/** The message of a 403 without a specific reason. */
export const forbiddenText = 'You do not have permission to perform this action.';

/** Returns the message of the 403, or undefined when the caller has the right. */
type Denial<S> = (request: Request, subject: S) => string | undefined;

/** The names of boolean settings. */
type Switch = { [K in keyof Config]: Config[K] extends boolean ? K : never }[keyof Config];

/**
 * The right to do something with a subject, such as the row to change: the check, and the words that OPTIONS and the
 * documentation show for it.
 */
export class Right<S = unknown> {
  constructor(
    /** The users who have it: `owners of the customer`. */
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

  /** Throws 403 unless the caller has the right. */
  require(request: Request, subject: S): void {
    const reason = this.denialReason(request, subject);
    if (reason === undefined) return;
    throw forbidden(reason === forbiddenText && request.caller.apiKey?.isOfStaff ? boundText : reason);
  }

  /** Returns this right for deployments where a setting is on. */
  when(setting: Switch): Right<S> {
    return new Right(`${this.words} with the setting ${setting}`, (request, subject) =>
      request.config[setting] ? this.denialReason(request, subject) : forbiddenText,
    );
  }

  /** Returns this right for deployments where a setting is off. */
  unless(setting: Switch): Right<S> {
    return new Right(`${this.words} without the setting ${setting}`, (request, subject) =>
      request.config[setting] ? forbiddenText : this.denialReason(request, subject),
    );
  }

  /** Returns this right with other words. */
  as(words: string): Right<S> {
    return new Right(words, this.denialReason);
  }
}

/** Creates a right from its words and its check. */
export const right = <S = unknown>(words: string, may: (request: Request, subject: S) => boolean): Right<S> =>
  new Right(words, (request, subject) => (may(request, subject) ? undefined : forbiddenText));

/** Applies a right to a subject that is derived from another: `rightVia((link) => ({ customer_id: … }), ownersOf('customer_id'))`. */
export const rightVia = <T, S>(subjectOf: (input: T, request: Request) => S, over: Right<S>): Right<T> =>
  new Right(over.words, (request, input) => over.denialReason(request, subjectOf(input, request)));

/** Restricts a right by a further check with its own message. */
export const rightUnlessDenied = <G, S extends G>(granted: Right<G>, denial: Denial<S>): Right<S> =>
  new Right(granted.words, (request, subject) => granted.denialReason(request, subject) ?? denial(request, subject));

/** Restricts a right by another, which also gives the words. */
export const narrowed = <G, S extends G>(granted: Right<G>, narrower: Right<S>): Right<S> =>
  rightUnlessDenied(granted, narrower.denialReason).as(narrower.words);

/** Combines rights: having one of them is enough. */
export const anyOf = <S>(...rights: readonly Right<S>[]): Right<S> =>
  right(rights.map(({ words }) => words).join('; '), (request, subject) =>
    rights.some((one) => one.may(request, subject)),
  );

export const authenticated = right('any authenticated user', () => true);

/** Any user, for a response that contains only objects that the caller can see. */
export const authenticatedOver = (objects: string): Right =>
  authenticated.as(`any authenticated user, over the ${objects} they can see`);

export const staff = right('staff', ({ caller }) => caller.isStaff);

/** The owners of the customer whose id is in a column of the subject. */
export const ownersOf = <K extends string>(column: K): Right<Readonly<Record<K, number>>> =>
  right('owners of the customer', ({ caller, db }, subject) => ownsCustomer(db, caller, subject[column]));

/** The user whose id is in a column of the subject, with words such as `the author`. */
export const userIn = <K extends string>(column: K, words: string): Right<Readonly<Record<K, number | null>>> =>
  right(words, ({ caller }, subject) => subject[column] === caller.userId);

/** The condition for rows that a caller can see, and its words. */
export interface Visibility {
  readonly allowedFor: string;
  readonly condition: (caller: Caller, config: Config) => Sql;
}

/** Creates a visibility from its words and its condition. */
export const visibleTo = (words: string, condition: Visibility['condition']): Visibility => ({
  allowedFor: right(words, () => true).allowedFor,
  condition,
});
