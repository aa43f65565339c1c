/**
 * Replaces `uvu` in test files and reports what uvu misses: `before` and `after.each` hooks that throw, suites without `.run()`,
 * thrown values that are not errors, and tests that hang.
 */
import { inspect } from 'node:util';
import { type Callback, type Context, type Test, suite as uvuSuite } from 'uvu';

// Tests may replace the global functions.
const { clearTimeout, setTimeout } = globalThis;

const problems: string[] = [];
/** Suites that have registered tests since their last `.run()`. */
const waiting = new Set<{ readonly name: string; tests: number }>();

/** The name of a suite, and the title of one of its tests. */
export type Title = readonly [suite: string, test: string];

const titles: Title[] = [];

/** Returns the tests registered since the last call. */
export const takeTitles = (): readonly Title[] => titles.splice(0);

/** Called when a hook or test starts, and when a test has passed. */
export const progress: { started: (what: string) => void; passed: () => void; timeoutMs: number } = {
  started: () => undefined,
  passed: () => undefined,
  timeoutMs: 240_000,
};

/** Returns the problems outside tests since the last call. */
export function takeProblems(): readonly string[] {
  for (const { name, tests } of waiting)
    problems.push(`suite "${name}" registers ${tests} test(s) but never calls .run()`);
  waiting.clear();
  return problems.splice(0);
}

/** Converts a thrown value to an Error: uvu reads `name` and `stack` of any value, and prints no cause. */
export function asError(thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error(`threw ${inspect(thrown)}, which is no Error`);
  // Only the cause says why a fetch failed.
  if (thrown.name !== 'TypeError' || !(thrown.cause instanceof Error)) return thrown;
  return new TypeError(`${thrown.message} (${thrown.cause.message})`, { cause: thrown });
}

/** Rejects when the work exceeds the timeout of a test. */
async function withTimeout(what: string, work: () => unknown): Promise<void> {
  progress.started(what);
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error(`hangs: no result within ${progress.timeoutMs / 1000} s`));
    timer = setTimeout(fail, progress.timeoutMs);
  });
  try {
    await Promise.race([work(), overdue]);
  } finally {
    clearTimeout(timer);
  }
}

/** Like uvu's `suite`, but records the errors of hooks that uvu would not report. */
export function suite<T = Context>(name = '', state?: T): Test<T> {
  const original = uvuSuite<T>(name, state);
  const registered = { name, tests: 0 };

  const guarded =
    (what: string, handler: Callback<T>, hook?: string): Callback<T> =>
    async (context) => {
      try {
        await withTimeout(`${name}: ${what}`, () => handler(context));
      } catch (thrown) {
        const error = asError(thrown);
        if (hook) problems.push(`${hook} hook of suite "${name}" throws: ${error.stack}`);
        throw error;
      }
      if (!what.endsWith(' hook')) progress.passed();
    };
  const register = (add: (title: string, handler: Callback<T>) => void) => (title: string, handler: Callback<T>) => {
    registered.tests += 1;
    titles.push([name, title]);
    waiting.add(registered);
    add(title, guarded(title, handler));
  };

  const { before, after, only, run } = original;
  const skip: typeof original.skip = (title, handler) => {
    if (title !== undefined) titles.push([name, title]);
    original.skip(title, handler);
  };
  return Object.assign(register(original), {
    only: register(only),
    skip,
    before: Object.assign((handler: Callback<T>) => before(guarded('before hook', handler, 'before')), {
      each: (handler: Callback<T>) => before.each(guarded('before.each hook', handler)),
    }),
    after: Object.assign((handler: Callback<T>) => after(guarded('after hook', handler, 'after')), {
      each: (handler: Callback<T>) => after.each(guarded('after.each hook', handler, 'after.each')),
    }),
    run: () => {
      registered.tests = 0;
      waiting.delete(registered);
      run();
    },
  });
}

export const test = suite();
