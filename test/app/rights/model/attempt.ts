/** A request under evaluation: possible rejections, the values of its body, and the events it causes. */
import { type Kind, may, type Standing, type State, sees, type User } from '../model.ts';
import { type Call, unreadable } from './call.ts';
import type { Shown } from './shown.ts';

export interface Reply {
  readonly status: number;
  /** The exact body of a rejection, or the values of an action or counter. */
  readonly body?: unknown;
  /** The object in the response, as the caller sees it. */
  readonly object?: Shown;
  /** The objects of a list. The response may contain one page of them. */
  readonly list?: readonly Shown[];
  /** Whether OPTIONS describes the fields. */
  readonly described?: boolean;
  /** Label of a new object. */
  readonly created?: string;
}

/** Thrown to end a request without a change. Not an error, which would need a stack each time. */
export class Rejection {
  constructor(readonly response: Reply) {}
}

/** Thrown for an invalid value. */
class Bad {
  constructor(readonly message: string) {}
}

export const reject = (status: number, body: unknown): never => {
  throw new Rejection({ status, body });
};
export const notFound = (): never => reject(404, { detail: 'Not found.' });
export const forbidden = (): never => reject(403, { detail: 'You do not have permission to perform this action.' });
export const conflict = (detail: string): never => reject(409, { detail });

/** Reads a value of a body; rejects an invalid one. */
export type Reader = (value: unknown, attempt: Attempt) => unknown;

export const bad = (message: string): never => {
  throw new Bad(message);
};

export class Attempt {
  constructor(
    readonly state: State,
    readonly call: Call,
    readonly caller: User,
    readonly events: string[],
  ) {}

  /** The right that this request requires. */
  get right(): string {
    return `${this.call.method} ${this.call.on}${this.call.tail === undefined ? '' : `/${this.call.tail}`}`;
  }

  /** The label of the addressed object, if visible to the caller. */
  see(kind: Kind, key = this.call.key as string): string {
    return sees(this.state, this.caller, kind, key) ? key : notFound();
  }

  need(standing: readonly Standing[], right = this.right): void {
    if (!may(this.state, right, standing)) forbidden();
  }

  /** The values of the body; collects all field errors. */
  read(readers: Readonly<Record<string, Reader>>, required: readonly string[] = []): Record<string, unknown> {
    const { body = {}, unreadable: broken } = this.call;
    if (broken) reject(unreadable[broken].status, unreadable[broken].body);
    const values: Record<string, unknown> = {};
    const errors: Record<string, readonly string[]> = {};
    for (const [name, reader] of Object.entries(readers)) {
      try {
        if (name in body) values[name] = reader(body[name], this);
        else if (required.includes(name)) bad('This field is required.');
      } catch (error) {
        if (!(error instanceof Bad)) throw error;
        errors[name] = [error.message];
      }
    }
    if (Object.keys(errors).length > 0) reject(400, errors);
    return values;
  }

  happens(type: string, ...about: readonly string[]): void {
    this.events.push([type, ...about, 'by', this.caller.id].join(' '));
  }
}

export const text =
  (most: number, { blank = true } = {}): Reader =>
  (value) => {
    if (value === null) return bad('This field may not be null.');
    if (typeof value !== 'string' && typeof value !== 'number') return bad('Not a valid string.');
    const trimmed = String(value).trim();
    if (trimmed === '' && !blank) bad('This field may not be blank.');
    if (trimmed.length > most) bad(`Ensure this field has no more than ${most} characters.`);
    return trimmed;
  };

export const truth: Reader = (value) => {
  if (value === null) return bad('This field may not be null.');
  return typeof value === 'boolean' ? value : bad(`"${value}" is not a valid boolean.`);
};

export const choice =
  (...known: readonly string[]): Reader =>
  (value) => {
    if (value === null) return bad('This field may not be null.');
    return known.includes(value as string) ? value : bad(`"${value}" is not a valid choice.`);
  };

export const link =
  (kind: Kind): Reader =>
  (value, { state, caller }) => {
    if (value === null) return bad('This field may not be null.');
    if (typeof value === 'number') return bad('Incorrect type. Expected URL string, received int.');
    if (typeof value === 'string') return bad('Invalid hyperlink - No URL match.');
    const { link: on, key } = value as { link: Kind; key: string };
    if (on !== kind) return bad('Invalid hyperlink - Incorrect URL match.');
    return sees(state, caller, kind, key) ? key : bad('Invalid hyperlink - Object does not exist.');
  };

const time: Reader = (value) => {
  if (value === null || value === '') return null;
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at)
    ? bad(
        'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
      )
    : at;
};

export const timeToCome: Reader = (value, attempt) => {
  const at = time(value, attempt) as number | null;
  return at !== null && at <= attempt.state.now ? bad('Expiration time should be greater than current time.') : at;
};
