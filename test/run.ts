/**
 * The test runner: `tsx test/run.ts [--timeout seconds] [--root folder] [part of a path …]`
 *
 * Two processes run the test files, each the next one when it is done. Failed is also a file that throws, registers no
 * test, hangs, or ends its process. The last line is always `N passed, N failed`. Why there is a runner:
 * src/decisions/test-runner.md.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fileOf, runsOf } from './support/runner/modes.ts';
import type { FileResult, Message } from './support/runner/shard.ts';

const project = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: {
    root: { type: 'string', default: join(project, 'test') },
    /** Seconds for one file; the slowest take about one minute. */
    timeout: { type: 'string', default: '300' },
  },
});
const root = resolve(values.root);
const timeoutMilliseconds = Number(values.timeout) * 1000;
const shards = new Set<ChildProcess>();

/** The runs of test files: paths relative to the root, with the mode where it is not the usual one. */
function testRuns(): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !/^bench[/\\]|(^|[/\\])node_modules[/\\]/.test(file))
    .filter((file) => filters.length === 0 || filters.some((filter) => join(root, file).includes(filter)))
    .sort()
    .flatMap((file) => runsOf(root, file));
}

/** What vendors' own clients and services are needed for. */
const liveParts = (): string[] =>
  readdirSync(join(project, 'test/live'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();

function startShard(): ChildProcess {
  const colour = process.stdout.isTTY && !process.env.NO_COLOR ? { FORCE_COLOR: '1' } : {};
  const shard = fork(new URL('support/runner/shard.ts', import.meta.url), {
    execArgv: ['--import', import.meta.resolve('tsx')],
    env: { ...process.env, ...colour },
    // A group of its own, so that what a hanging test started ends with it.
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

/** Runs one file in the shard. `alive` tells whether the shard can take another one. */
function runFile(shard: ChildProcess, file: string): Promise<{ result: FileResult; output: string; alive: boolean }> {
  const started = performance.now();
  return new Promise((answer) => {
    let output = '';
    const listen = (onOff: 'on' | 'off') => {
      shard[onOff]('message', onMessage);
      shard[onOff]('exit', onExit);
      for (const stream of [shard.stdout, shard.stderr]) stream?.[onOff]('data', onData);
    };
    const finish = (result: FileResult, alive: boolean) => {
      clearTimeout(watchdog);
      listen('off');
      if (!alive) stopShard(shard);
      answer({ result, output, alive });
    };
    const fail = (report: string) =>
      finish({ passed: 0, failed: 1, skipped: 0, milliseconds: performance.now() - started, report }, false);
    const onData = (chunk: Buffer) => (output += chunk.toString());
    const onMessage = (message: Message) => {
      if ('result' in message) finish(message.result, true);
      else output += message.output;
    };
    const onExit = (code: number | null, signal: string | null) =>
      fail(`the file ends its process (${signal ?? `exit code ${code}`})`);
    const watchdog = setTimeout(() => fail(`the file hangs: stopped after ${values.timeout} s`), timeoutMilliseconds);
    listen('on');
    const { env, path } = fileOf(file);
    shard.send({ file: join(root, path), env });
  });
}

const started = performance.now();
const queue = testRuns();
const total = { passed: 0, failed: 0, skipped: 0 };

async function work(): Promise<void> {
  let shard: ChildProcess | undefined;
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    shard ??= startShard();
    const { result, output, alive } = await runFile(shard, file);
    if (!alive) shard = undefined;
    print(file, result, output);
    total.passed += result.passed;
    total.failed += result.failed;
    total.skipped += result.skipped;
  }
  if (shard) stopShard(shard);
}

function print(file: string, { passed, failed, skipped, milliseconds, report }: FileResult, output: string): void {
  const counts = [`${passed} passed`, failed && `${failed} failed`, skipped && `${skipped} skipped`].filter(Boolean);
  const path = relative(process.cwd(), join(root, file));
  console.log(`${failed > 0 ? '✘' : '•'} ${path}: ${counts.join(', ')}, ${Math.round(milliseconds)} ms`);
  // What a file prints says why its tests are skipped; the line with uvu's progress says nothing more.
  const texts = failed > 0 ? [output, report] : skipped > 0 ? [output.replace(/^.*\(\d+ \/ \d+\)$/gm, '')] : [];
  const text = texts.join('\n').trim();
  if (text) console.log(text.replace(/^/gm, '    '));
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    for (const shard of shards) stopShard(shard);
    process.exit(1);
  });
}

await Promise.all([work(), work()]);
const skipped = total.skipped ? `, ${total.skipped} skipped` : '';
// A run of everything says what it does not run.
if (filters.length === 0 && root === join(project, 'test'))
  console.log(
    `\nLeft to npm run live, which needs Debian packages or other versions of Node.js: ${liveParts().join(', ')}`,
  );
console.log(`\nTook ${((performance.now() - started) / 1000).toFixed(1)} s${skipped}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
if (total.failed > 0 || total.passed + total.skipped === 0) process.exitCode = 1;
