/**
 * The test runner: `node build.mjs test [--timeout seconds] [--root folder] [--cpu] [--titles] [part of a path …]`
 *
 * Runs the test files in three processes per core, the slowest files first. A file that throws, registers no test, hangs or ends
 * its process fails. If only a few files fail, they run again, one at a time: those that pass then count as passed and are listed
 * as unstable. The last line is always `N passed, N failed`. The reasons for a separate runner: src/decisions/test-runner.md.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compiledFile, compileTests } from '../src/build/tests.mjs';
import { readDurations, sortByDuration, writeDurations } from './support/runner/durations.ts';
import { fileOf, runsOf } from './support/runner/modes.ts';
import type { Assignment, FileResult, Message } from './support/runner/shard.ts';
import type { Title } from './support/runner/uvu.ts';

const project = fileURLToPath(new URL('..', import.meta.url));
const projectTests = join(project, 'test');
const { values, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: {
    root: { type: 'string', default: projectTests },
    /** Timeout of a test in seconds. */
    timeout: { type: 'string', default: '240' },
    /** Whether to print the CPU time of each file and of its most expensive tests. */
    cpu: { type: 'boolean', default: false },
    /** Whether to list the tests instead of running them: file, suite and title, separated by tabs. */
    titles: { type: 'boolean', default: false },
  },
});
const root = resolve(values.root);
const isProject = root === projectTests;
const timeoutMs = Number(values.timeout) * 1000;
/** Grace period for a test that blocks the event loop, and with it its own timeout. */
const graceMs = 5000;
const shards = new Set<ChildProcess>();
/** If more files than this fail, the cause is a change rather than a busy machine, so they do not run again. */
const maxRepeated = 5;

/** Returns the runs of the selected files: paths relative to the root, followed by the mode unless it is the default. */
function testRuns(): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !/^bench[/\\]|(^|[/\\])node_modules[/\\]/.test(file))
    .filter((file) => filters.length === 0 || filters.some((filter) => join(root, file).includes(filter)))
    .sort()
    .flatMap((file) => runsOf(root, file));
}

/** Folders of tests that need vendors' own clients and services. */
const liveParts = (): string[] =>
  readdirSync(join(projectTests, 'live'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();

function startShard(): ChildProcess {
  const colour = process.stdout.isTTY && !process.env.NO_COLOR ? { FORCE_COLOR: '1' } : {};
  const shard = fork(compiledFile(join(projectTests, 'support/runner/shard.ts')), {
    env: { ...process.env, ...colour },
    // Responses are short-lived garbage: a larger young generation copies less of it.
    execArgv: ['--max-semi-space-size=64'],
    // A separate process group, so that the processes of a hanging test can be killed with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  shards.add(shard);
  return shard;
}

function stopShard(shard: ChildProcess): void {
  shards.delete(shard);
  if (shard.pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? shard.pid : -shard.pid, 'SIGKILL');
  } catch {
    // The whole group has ended already.
  }
}

/** Lets a shard close its shared resources, so that their CPU time is counted, and stops it. */
async function endShard(shard: ChildProcess): Promise<void> {
  if (shard.connected) {
    const exited = new Promise((resolve) => shard.once('exit', resolve));
    const timer = setTimeout(() => stopShard(shard), graceMs);
    shard.disconnect();
    await exited;
    clearTimeout(timer);
  }
  stopShard(shard);
}

/** Runs one file in the shard. `alive` is false if the shard cannot run another one. */
function runFile(shard: ChildProcess, file: string): Promise<{ result: FileResult; output: string; alive: boolean }> {
  const started = performance.now();
  return new Promise((response) => {
    let output = '';
    let watchdog: NodeJS.Timeout | undefined;
    /** The running test, and the number of passed tests before it. */
    let current = { started: 'the file', passed: 0 };
    const listen = (onOff: 'on' | 'off') => {
      shard[onOff]('message', onMessage);
      shard[onOff]('exit', onExit);
      for (const stream of [shard.stdout, shard.stderr]) stream?.[onOff]('data', onData);
    };
    const finish = (result: FileResult, alive: boolean) => {
      clearTimeout(watchdog);
      listen('off');
      if (!alive) stopShard(shard);
      response({ result, output, alive });
    };
    const fail = (report: string) => {
      const counts = { passed: current.passed, failed: 1, skipped: 0 };
      finish({ ...counts, milliseconds: performance.now() - started, cpuSeconds: 0, cpuByTest: [], report }, false);
    };
    const watch = () => {
      clearTimeout(watchdog);
      const stop = () => fail(`hangs: ${current.started} was stopped after ${(timeoutMs + graceMs) / 1000} s`);
      watchdog = setTimeout(stop, timeoutMs + graceMs);
    };
    const onData = (chunk: Buffer) => (output += chunk.toString());
    const onMessage = (message: Message) => {
      if ('result' in message) finish(message.result, true);
      else if ('output' in message) output += message.output;
      else if ('titles' in message) printTitles(file, message.titles);
      else {
        current = message;
        watch();
      }
    };
    const onExit = (code: number | null, signal: string | null) =>
      fail(`the file ends its process (${signal ?? `exit code ${code}`}) in ${current.started}`);
    listen('on');
    watch();
    const { env, path } = fileOf(file);
    const source = join(root, path);
    const compiled = isProject ? compiledFile(source) : compiledFile(source, root, outputFolder);
    const assignment: Assignment = { file: compiled, env, timeoutMs, isTitlesOnly: values.titles, isTimed: values.cpu };
    shard.send(assignment);
  });
}

/** Output folder for the files of another root. It is below that root so that their imports of packages resolve. */
const outputFolder = join(root, 'compiled');
if (!isProject) await compileTests(root, outputFolder);

// Data that tests share, made by the program of an earlier run.
if (isProject && !values.titles)
  for (const name of ['native', 'demo-data', 'prepared'])
    rmSync(join(project, 'dist', name), { recursive: true, force: true });

const started = performance.now();
const durations = isProject ? readDurations() : {};
const queue = sortByDuration(testRuns(), durations);
const isOneFile = queue.length === 1;
const durationsMs: Record<string, number> = {};
const results = new Map<string, FileResult>();

/** Runs files from the queue in one shard until none is left. */
async function work(): Promise<void> {
  let shard: ChildProcess | undefined;
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    shard ??= startShard();
    const { result, output, alive } = await runFile(shard, file);
    if (!alive) shard = undefined;
    print(file, result, output);
    durationsMs[file] = Math.round(result.milliseconds);
    results.set(file, result);
  }
  if (shard) await endShard(shard);
}

const failedFiles = (): string[] => [...results].filter(([, { failed }]) => failed > 0).map(([file]) => file);

/** Runs failed files again, one at a time. Returns those that now pass. */
async function repeatFailed(): Promise<readonly string[]> {
  const files = failedFiles();
  if (files.length === 0 || files.length > maxRepeated || isOneFile || values.titles) return [];
  console.log(`\nRunning ${files.length} failed ${files.length === 1 ? 'file' : 'files'} again, one at a time:`);
  queue.push(...files);
  await work();
  const stillFailed = failedFiles();
  return files.filter((file) => !stillFailed.includes(file));
}

/** Tests that take less CPU time are not reported. */
const shownCpuSeconds = 0.5;

function printTitles(file: string, titles: readonly Title[]): void {
  for (const words of titles) console.log([file, ...words].join('\t'));
}

function print(
  file: string,
  { passed, failed, skipped, milliseconds, cpuSeconds, cpuByTest, report }: FileResult,
  output: string,
) {
  if (values.titles && failed === 0) return;
  const counts = [`${passed} passed`, failed && `${failed} failed`, skipped && `${skipped} skipped`].filter(Boolean);
  const path = relative(process.cwd(), join(root, file));
  const cpu = values.cpu ? `, ${cpuSeconds.toFixed(2)} s of processor time` : '';
  console.log(`${failed > 0 ? '✘' : '•'} ${path}: ${counts.join(', ')}, ${Math.round(milliseconds)} ms${cpu}`);
  if (values.cpu)
    for (const [what, seconds] of [...cpuByTest].sort(([, a], [, b]) => b - a))
      if (seconds >= shownCpuSeconds) console.log(`    ${seconds.toFixed(2)} s in ${what}`);
  // The output explains why tests are skipped. A run of one file always prints it, without uvu's progress line.
  const own = output.replace(/^.*\(\d+ \/ \d+\)$/gm, '');
  const texts = failed > 0 ? [output, report] : skipped > 0 || isOneFile ? [own] : [];
  const text = texts.join('\n').trim();
  if (text) console.log(text.replace(/^/gm, '    '));
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    for (const shard of shards) stopShard(shard);
    process.exit(1);
  });
}

// Tests spend most of their time waiting for a browser, a process or a disk.
await Promise.all(Array.from({ length: 3 * availableParallelism() }, work));
const unstable = await repeatFailed();
const total = { passed: 0, failed: 0, skipped: 0, cpuSeconds: 0 };
for (const result of results.values())
  for (const name of ['passed', 'failed', 'skipped', 'cpuSeconds'] as const) total[name] += result[name];
if (!values.titles) reportTotal();
if (total.failed > 0 || (total.passed + total.skipped === 0 && !values.titles)) process.exitCode = 1;

function reportTotal(): void {
  if (isProject) writeDurations(durationsMs);
  const skipped = total.skipped ? `, ${total.skipped} skipped` : '';
  // A complete run lists the tests that it does not include.
  if (filters.length === 0 && isProject)
    console.log(
      `\nLeft to npm run live, which needs Debian packages or other versions of Node.js: ${liveParts().join(', ')}`,
    );
  if (unstable.length > 0)
    console.log(
      `\nUnstable: failed beside other files, passed alone; the first report is above: ${unstable.join(', ')}`,
    );
  const cpu = values.cpu ? `, ${total.cpuSeconds.toFixed(0)} s of processor time` : '';
  console.log(`\nTook ${((performance.now() - started) / 1000).toFixed(1)} s${cpu}${skipped}`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
}
