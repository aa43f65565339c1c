/** A process of the runner. It receives compiled test files one at a time, runs them and reports the results. */
import { pathToFileURL } from 'node:url';
import { otherCpu, runCleanups } from './cleanup.ts';
import { checkedFetch } from './fetch.ts';
import { cpuOfProcess } from './process-cpu.ts';
import { sourcePlaces } from './source-places.ts';
import type { Title } from './uvu.ts';

export interface FileResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly milliseconds: number;
  /** CPU time of the process, the children that it has waited for, and its browser. */
  readonly cpuSeconds: number;
  /** CPU time in seconds by test and hook. */
  readonly cpuByTest: readonly (readonly [what: string, seconds: number])[];
  /** Messages, diffs and stacks of failures; empty if there are none. */
  readonly report: string;
}

/** A compiled file to run, with its options. */
export interface Assignment {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Whether to return the titles of the tests without running them. */
  readonly isTitlesOnly: boolean;
  /** Whether to measure CPU time. */
  readonly isTimed: boolean;
}

/** A message from a shard: output of a file, the titles of its tests, a test that starts after `passed` others, or the result. */
export type Message =
  | { readonly output: string }
  | { readonly titles: readonly Title[] }
  | { readonly started: string; readonly passed: number }
  | { readonly result: FileResult };

/** The counts of one suite as uvu returns them. `errors` is true if there are none. */
type SuiteRun = () => Promise<[errors: string | true, passed: number, skipped: number, total: number]>;

// Makes uvu collect the suites of a file instead of running them.
const uvu = globalThis as unknown as { UVU_DEFER: 1; UVU_INDEX: 0; UVU_QUEUE: SuiteRun[][] };
uvu.UVU_DEFER = 1;
uvu.UVU_INDEX = 0;
const { asError, progress, takeProblems, takeTitles } = await import('./uvu.ts');

const uncaughtErrors: string[] = [];
process.on('unhandledRejection', (reason) => uncaughtErrors.push(`unhandled rejection: ${asError(reason).stack}`));
process.on('uncaughtException', (error) => uncaughtErrors.push(`uncaught exception: ${asError(error).stack}`));

const send = (message: Message): void => void process.send?.(message);
for (const stream of [process.stdout, process.stderr]) {
  stream.write = ((chunk: string | Uint8Array, encoding?: unknown, done?: unknown) => {
    send({ output: typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString() });
    const callback = typeof encoding === 'function' ? encoding : done;
    if (typeof callback === 'function') callback();
    return true;
  }) as typeof stream.write;
}

/** Whether the runner prints CPU times. */
let isTimed = false;

/** Returns the CPU time in seconds of this process, its ended children and shared processes. 0 unless it is measured. */
function cpuSeconds(): number {
  if (!isTimed) return 0;
  if (process.platform !== 'linux') return process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
  return cpuOfProcess('self') + otherCpu.seconds + otherCpu.browserSeconds();
}

const baseEnv = { ...process.env };

async function runFile({ env, file, isTitlesOnly, timeoutMs, ...assigned }: Assignment): Promise<FileResult> {
  const started = performance.now();
  isTimed = assigned.isTimed;
  const cpuBefore = cpuSeconds();
  const suites: SuiteRun[] = [];
  uvu.UVU_QUEUE = [suites];
  // Set it for each file: a failed test may have left a replacement.
  globalThis.fetch = checkedFetch;
  process.env = { ...baseEnv, ...env };
  // A different URL makes the file register its tests again for another mode.
  const mode = new URLSearchParams(env).toString();
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const texts: string[] = [];
  let passed = 0;
  const spent = { by: new Map<string, number>(), what: '', since: cpuBefore };
  const measure = (what: string): void => {
    const now = cpuSeconds();
    if (now > spent.since && spent.what) spent.by.set(spent.what, (spent.by.get(spent.what) ?? 0) + now - spent.since);
    Object.assign(spent, { what, since: now });
  };
  Object.assign(progress, {
    timeoutMs,
    started: (what: string) => {
      measure(what);
      send({ started: what, passed });
    },
    passed: () => {
      passed += 1;
    },
  });

  try {
    await import(pathToFileURL(file).href + (mode && `?${mode}`));
  } catch (thrown) {
    uncaughtErrors.push(`the file throws: ${asError(thrown).stack}`);
  }
  const titles = takeTitles();
  if (isTitlesOnly) send({ titles });
  for (const run of isTitlesOnly ? [] : suites) {
    try {
      const [errors, passed, skipped, total] = await run();
      counts.passed += passed;
      counts.failed += total - passed;
      counts.skipped += skipped;
      if (typeof errors === 'string') texts.push(errors);
    } catch {
      // Only an `after` hook can reject here, and its error is already recorded.
    }
  }
  // Node.js reports unhandled rejections after the microtasks.
  await new Promise((resolve) => setImmediate(resolve));

  const problems = [...takeProblems(), ...uncaughtErrors.splice(0)];
  measure('');
  const nothing = !isTitlesOnly && counts.passed + counts.failed + counts.skipped === 0;
  if (nothing && problems.length === 0) problems.push('the file registers no test');
  texts.push(...problems);
  // A problem outside the tests fails the file even if every test passed.
  if (problems.length > 0) counts.failed = Math.max(counts.failed, 1);
  return {
    ...counts,
    milliseconds: performance.now() - started,
    cpuSeconds: cpuSeconds() - cpuBefore,
    cpuByTest: [...spent.by],
    report: sourcePlaces(texts.join('\n')),
  };
}

process.on('message', (assignment: Assignment) => {
  void runFile(assignment).then((result) => send({ result }));
});
process.on('disconnect', () => void runCleanups().finally(() => process.exit()));
