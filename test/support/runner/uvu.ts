/**
 * uvu with its blind spots noted: it passes over a `before`, `after` or `after.each` hook that throws, over a suite whose
 * `.run()` was forgotten, and stumbles over a thrown value that is no Error. Test files import `uvu` and get this.
 */
import { inspect } from 'node:util';
import { type Callback, type Context, type Test, suite as uvuSuite } from 'uvu';

const problems: string[] = [];
const waiting = new Map<Test<never>, { name: string; tests: number }>();

/** Answers, and forgets, what went wrong outside the tests themselves since the last call; one text per problem. */
export function takeProblems(): readonly string[] {
  const forgotten = [...waiting.values()]
    .filter(({ tests }) => tests > 0)
    .map(({ name, tests }) => `suite "${name}" registers ${tests} test(s) but never calls .run()`);
  waiting.clear();
  return [...problems.splice(0), ...forgotten];
}

/** A thrown value as an Error; uvu reads `name` and `stack` of whatever is thrown. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`threw ${inspect(thrown)}, which is no Error`);
}

export function suite<T = Context>(name = '', state?: T): Test<T> {
  const original = uvuSuite<T>(name, state);
  const registered = { name, tests: 0 };
  waiting.set(original as unknown as Test<never>, registered);

  const withError =
    (handler: Callback<T>): Callback<T> =>
    async (context) => {
      try {
        await handler(context);
      } catch (thrown) {
        throw asError(thrown);
      }
    };
  const noted =
    (hook: string, handler: Callback<T>): Callback<T> =>
    async (context) => {
      try {
        await handler(context);
      } catch (thrown) {
        problems.push(`${hook} hook of suite "${name}" throws: ${asError(thrown).stack}`);
        throw asError(thrown);
      }
    };

  const register = (add: (title: string, handler: Callback<T>) => void) => (title: string, handler: Callback<T>) => {
    registered.tests += 1;
    waiting.set(original as unknown as Test<never>, registered);
    add(title, withError(handler));
  };
  const before = Object.assign((handler: Callback<T>) => original.before(noted('before', handler)), {
    each: (handler: Callback<T>) => original.before.each(withError(handler)),
  });
  const after = Object.assign((handler: Callback<T>) => original.after(noted('after', handler)), {
    each: (handler: Callback<T>) => original.after.each(noted('after.each', handler)),
  });
  const run = () => {
    registered.tests = 0;
    original.run();
  };
  const only = register(original.only);
  return Object.assign(register(original), { before, after, only, skip: original.skip, run }) as Test<T>;
}

export const test = suite();
