import type { Config } from '../config/config.ts';
import type { Sql } from '../db/sql.ts';
import { forbidden } from '../http/error.ts';
import { boundText } from './api-key.ts';
import { type Caller, seesAll } from './caller.ts';
import type { Request } from './request.ts';
import { ownsCustomer } from './rights.ts';

/** The default 403 message. */
export const forbiddenText = 'You do not have permission to perform this action.';

/** Returns the 403 message, or undefined if the caller has the right. */
type Denial<S> = (request: Request, subject: S) => string | undefined;

/** Names of boolean settings. */
type Switch = { [K in keyof Config]: Config[K] extends boolean ? K : never }[keyof Config];

/**
 * The right to do something with a subject, such as the row to change: the check, and its description for OPTIONS and the
 * documentation.
 */
export class Right<S = unknown> {
  constructor(
    /** Describes the users with the right: `owners of the customer`. */
    readonly words: string,
    readonly denialReason: Denial<S>,
  ) {}

  /** The description as a sentence. */
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

  /** Limits this right to deployments with a setting on. */
  when(setting: Switch): Right<S> {
    return new Right(`${this.words} with the setting ${setting}`, (request, subject) =>
      request.config[setting] ? this.denialReason(request, subject) : forbiddenText,
    );
  }

  /** Limits this right to deployments with a setting off. */
  unless(setting: Switch): Right<S> {
    return new Right(`${this.words} without the setting ${setting}`, (request, subject) =>
      request.config[setting] ? forbiddenText : this.denialReason(request, subject),
    );
  }

  /** Returns this right with a different description. */
  as(words: string): Right<S> {
    return new Right(words, this.denialReason);
  }
}

/** Creates a right from its description and check. */
export const right = <S = unknown>(words: string, may: (request: Request, subject: S) => boolean): Right<S> =>
  new Right(words, (request, subject) => (may(request, subject) ? undefined : forbiddenText));

/** Applies a right to a subject that is derived from another: `rightVia((link) => ({ customer_id: … }), ownersOf('customer_id'))`. */
export const rightVia = <T, S>(subjectOf: (input: T, request: Request) => S, over: Right<S>): Right<T> =>
  new Right(over.words, (request, input) => over.denialReason(request, subjectOf(input, request)));

/** Restricts a right by a check with a specific message. */
export const rightUnlessDenied = <G, S extends G>(granted: Right<G>, denial: Denial<S>): Right<S> =>
  new Right(granted.words, (request, subject) => granted.denialReason(request, subject) ?? denial(request, subject));

/** Restricts a right by another right, which also provides the description. */
export const narrowed = <G, S extends G>(granted: Right<G>, narrower: Right<S>): Right<S> =>
  rightUnlessDenied(granted, narrower.denialReason).as(narrower.words);

/** Combines rights, any of which suffices. */
export const anyOf = <S>(...rights: readonly Right<S>[]): Right<S> =>
  right(rights.map(({ words }) => words).join('; '), (request, subject) =>
    rights.some((one) => one.may(request, subject)),
  );

export const authenticated = right('any authenticated user', () => true);

/** Any user. For responses with only the objects that the caller can see. */
export const authenticatedOver = (objects: string): Right =>
  authenticated.as(`any authenticated user, over the ${objects} they can see`);

export const staff = right('staff', ({ caller }) => caller.isStaff);

/** Users who can see all objects and the state of the service, except secrets. */
export const operators = right('staff; global support', ({ caller }) => seesAll(caller));

/** The owners of the customer whose id is in a column of the subject. */
export const ownersOf = <K extends string>(column: K): Right<Readonly<Record<K, number>>> =>
  right('owners of the customer', ({ caller, db }, subject) => ownsCustomer(db, caller, subject[column]));

/** The user whose id is in a column of the subject, described as, for example, `the author`. */
export const userIn = <K extends string>(column: K, words: string): Right<Readonly<Record<K, number | null>>> =>
  right(words, ({ caller }, subject) => subject[column] === caller.userId);

/** The condition for rows that a caller can see, and its description. */
export interface Visibility {
  readonly allowedFor: string;
  readonly condition: (caller: Caller, config: Config) => Sql;
}

/** Creates a visibility from its description and condition. */
export const visibleTo = (words: string, condition: Visibility['condition']): Visibility => ({
  allowedFor: right(words, () => true).allowedFor,
  condition,
});
