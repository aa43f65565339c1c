/** A process of the runner: it receives compiled test files one after the other, runs each and reports the results. */
import { pathToFileURL } from 'node:url';
import { endShared, otherCpu } from './at-end.ts';
import { checkedFetch } from './fetch.ts';
import { cpuOfProcess } from './process-cpu.ts';
import { sourcePlaces } from './source-places.ts';
import type { Title } from './uvu.ts';

export interface FileResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly milliseconds: number;
  /** CPU time of the process, of the children that it has waited for, and of its browser. */
  readonly cpuSeconds: number;
  /** Seconds of it by test and hook, if significant. */
  readonly cpuByTest: readonly (readonly [what: string, seconds: number])[];
  /** Messages, differences and stacks of failures; empty when there are none. */
  readonly report: string;
}

/** A compiled file to run, and how. */
export interface Assignment {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Whether to return the titles of the tests without running them. */
  readonly isTitlesOnly: boolean;
  /** Whether to measure CPU time. */
  readonly isTimed: boolean;
}

/** A message of a shard: the output of a file, the titles of its tests, the test that starts, the number of passed tests, and the final result. */
export type Message =
  | { readonly output: string }
  | { readonly titles: readonly Title[] }
  | { readonly began: string; readonly passed: number }
  | { readonly result: FileResult };

/** Counts of one suite as uvu returns them; `errors` is a text, or true when there is none. */
type SuiteRun = () => Promise<[errors: string | true, passed: number, skipped: number, total: number]>;

// uvu collects the suites of a file here instead of running them.
const uvu = globalThis as unknown as { UVU_DEFER: 1; UVU_INDEX: 0; UVU_QUEUE: SuiteRun[][] };
uvu.UVU_DEFER = 1;
uvu.UVU_INDEX = 0;
const { asError, progress, takeProblems, takeTitles } = await import('./uvu.ts');

const strays: string[] = [];
process.on('unhandledRejection', (reason) => strays.push(`unhandled rejection: ${asError(reason).stack}`));
process.on('uncaughtException', (error) => strays.push(`uncaught exception: ${asError(error).stack}`));

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

/** Seconds of CPU time of this process, of its children that have ended, and of those that it shares. */
function cpuSeconds(): number {
  if (!isTimed) return 0;
  if (process.platform !== 'linux') return process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
  return cpuOfProcess('self') + otherCpu.seconds + otherCpu.ofBrowser();
}

const usualEnv = { ...process.env };

async function runFile({ env, file, isTitlesOnly, timeoutMs, ...assigned }: Assignment): Promise<FileResult> {
  const started = performance.now();
  isTimed = assigned.isTimed;
  const cpuBefore = cpuSeconds();
  const suites: SuiteRun[] = [];
  uvu.UVU_QUEUE = [suites];
  // Again for each file: a failed one may have replaced it.
  globalThis.fetch = checkedFetch;
  process.env = { ...usualEnv, ...env };
  // In another mode a file registers its tests again.
  const mode = new URLSearchParams(env).toString();
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const texts: string[] = [];
  let passed = 0;
  const spent = { by: new Map<string, number>(), what: '', since: cpuBefore };
  const beginSpending = (what: string): void => {
    const now = cpuSeconds();
    if (now > spent.since && spent.what) spent.by.set(spent.what, (spent.by.get(spent.what) ?? 0) + now - spent.since);
    Object.assign(spent, { what, since: now });
  };
  Object.assign(progress, {
    timeoutMs,
    began: (began: string) => {
      beginSpending(began);
      send({ began, passed });
    },
    passed: () => {
      passed += 1;
    },
  });

  try {
    await import(pathToFileURL(file).href + (mode && `?${mode}`));
  } catch (thrown) {
    strays.push(`the file throws: ${asError(thrown).stack}`);
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
      // Only an `after` hook ends a suite in this way, and it has been noted.
    }
  }
  // Node.js reports a rejection without a handler after the microtasks.
  await new Promise((resolve) => setImmediate(resolve));

  const problems = [...takeProblems(), ...strays.splice(0)];
  beginSpending('');
  const nothing = !isTitlesOnly && counts.passed + counts.failed + counts.skipped === 0;
  if (nothing && problems.length === 0) problems.push('the file registers no test');
  texts.push(...problems);
  // Any problem of a file counts, also when each of its tests passed.
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
process.on('disconnect', () => void endShared().finally(() => process.exit()));
