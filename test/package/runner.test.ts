/** The runner must fail on all problems that uvu alone ignores. These tests run it on folders of broken test files. */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { compiled } from '../support/compiled.ts';
import { eventually } from '../support/eventually.ts';
import { cpuOfProcess, cpuOfSession } from '../support/runner/process-cpu.ts';
import { suiteOfBuild } from '../support/unchanged.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const head = "import { suite, test } from 'uvu'; import * as assert from 'uvu/assert'; const a = suite('birds');\n";

interface Outcome {
  readonly code: number | null;
  readonly output: string;
  readonly lastLine: string;
}

/** Runs the runner on a folder with these files. Adds the imports of uvu to them. */
async function runOn(files: Record<string, string>, ...options: string[]): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-runner-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), head + text);
    return await new Promise<Outcome>((response, reject) => {
      const words = [compiled(new URL('../run.ts', import.meta.url)), '--root', folder, ...options];
      const child = spawn(process.execPath, words, { cwd: project, env: { PATH: process.env.PATH } });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
      }
      child.on('error', reject);
      child.on('close', (code) => response({ code, output, lastLine: output.trimEnd().split('\n').at(-1) ?? '' }));
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const passing = "a('flies', () => assert.ok(true)); a.run();";
const runner = suiteOfBuild('test runner', {
  files: [
    ...['package-lock.json', 'src/build/tests.mjs', 'test/run.ts', 'test/support/runner', 'test/support/contract.ts'],
    ...['test/package/runner.test.ts', 'test/support/unchanged.ts'],
  ],
});

runner('passes when every test of every file passes', async () => {
  const two = `${passing} test('x', () => {}); test.run();`;
  const { code, lastLine } = await runOn({ 'one.test.ts': passing, 'two.test.ts': two });
  assert.is(lastLine, '3 passed, 0 failed');
  assert.is(code, 0);
});

runner('fails with file, test, difference and stack when an assertion fails', async () => {
  const { code, output, lastLine } = await runOn({
    'one.test.ts': "a('flies', () => assert.equal({ wings: 1 }, { wings: 2 })); a('sings', () => {}); a.run();",
  });
  assert.is(lastLine, '1 passed, 1 failed');
  assert.is(code, 1);
  for (const part of ['one.test.ts', 'birds', '"flies"', '++', 'wings', 'one.test.ts:2:']) assert.match(output, part);
});

runner('fails when nothing ran', async () => {
  const { code, lastLine } = await runOn({ 'one.test.ts': passing }, 'no-such-file');
  assert.is(lastLine, '0 passed, 0 failed');
  assert.is(code, 1);
});

runner('runs only the files whose path contains a word of the command', async () => {
  const { code, lastLine } = await runOn({ 'one.test.ts': passing, 'two.test.ts': 'throw new Error()' }, 'one.t');
  assert.is(lastLine, '1 passed, 0 failed');
  assert.is(code, 0);
});

runner('counts skipped tests, which are no failures, and prints the reason', async () => {
  const { code, output, lastLine } = await runOn({
    'one.test.ts': "console.log('no wind'); a.skip('flies'); a.run();",
  });
  assert.match(output, /one\.test\.ts: 0 passed, 1 skipped, \d+ ms\n {4}no wind\n\nTook [\d.]+ s, 1 skipped\n/);
  assert.is(lastLine, '0 passed, 0 failed');
  assert.is(code, 0);
});

runner('prints the title of every test, skipped ones too, and runs none', async () => {
  const { code, output } = await runOn(
    { 'one.test.ts': "a('flies', () => assert.ok(false)); a.skip('sings'); a.before(() => { throw 1 }); a.run();" },
    '--titles',
  );
  assert.equal([code, output], [0, 'one.test.ts\tbirds\tflies\none.test.ts\tbirds\tsings\n']);
});

runner('prints the CPU time of each file and of its tests', async () => {
  // The loop counts between two readings of the CPU time, because the system call takes more time than the count.
  const burning =
    'const from = process.cpuUsage(); let n = 0; while (process.cpuUsage(from).user < 600_000) for (const end = n + 1e6; n < end; n++);';
  const { output } = await runOn({ 'one.test.ts': `a('flies', () => { ${burning} }); ${passing}` }, '--cpu');
  assert.match(
    output,
    /one\.test\.ts: 2 passed, \d+ ms, [\d.]+ s of processor time\n {4}[\d.]+ s in birds: flies\n\nTook /,
  );
});

const storm = "() => { throw new Error('storm') }";
const late =
  "async () => { setTimeout(() => { throw new Error('late') }); await new Promise((r) => setTimeout(r, 20)); }";

/** The problem, the file, the report of the runner, and how many of the file's tests still pass. */
const broken: readonly [title: string, file: string, message: RegExp, passed: number][] = [
  ['a file that throws when imported', "throw new Error('no nest')", /the file throws: Error: no nest/, 0],
  ['a file that throws after its suite', `${passing} throw new Error('no nest')`, /the file throws: Error: no nest/, 1],
  ['a file without a test', '', /the file registers no test/, 0],
  ['a suite without a test', 'a.run();', /the file registers no test/, 0],
  ['a forgotten .run()', "a('flies', () => {});", /suite "birds" registers 1 test\(s\) but never calls \.run\(\)/, 0],
  ['a forgotten .run() of two', `${passing} test('x', () => {});`, /1 test\(s\) but never calls \.run\(\)/, 1],
  [
    'a before hook that throws',
    `a.before(${storm}); ${passing}`,
    /before hook of suite "birds" throws: Error: storm/,
    0,
  ],
  ['a before.each hook that throws', `a.before.each(${storm}); ${passing}`, /storm/, 0],
  ['an after hook that throws', `a.after(${storm}); ${passing}`, /after hook of suite "birds" throws: Error: storm/, 0],
  [
    'an after.each hook that throws',
    `a.after.each(${storm}); ${passing}`,
    /after.each hook of suite "birds" throws/,
    0,
  ],
  [
    'a thrown value that is no Error',
    `a('x', () => { throw 'mute' }); ${passing}`,
    /threw 'mute', which is no Error/,
    1,
  ],
  [
    'an unhandled rejection',
    `a('x', () => { void (async ${storm})() }); ${passing}`,
    /unhandled rejection: Error: storm/,
    2,
  ],
  ['an exception outside of a test', `a('x', ${late}); ${passing}`, /uncaught exception: Error: late/, 2],
  ['a test that ends the process', `a('x', () => process.exit(0)); ${passing}`, /ends its process \(exit code 0\)/, 0],
];

// One run of all files. Each test checks the report of its file.
let brokenOutput = '';

runner.before(async () => {
  const files = broken.map(([, file], index) => [`broken-${index}.test.ts`, file] as const);
  const { code, output, lastLine } = await runOn(Object.fromEntries(files));
  assert.is(code, 1);
  assert.match(lastLine, new RegExp(`^\\d+ passed, ${files.length} failed$`));
  brokenOutput = output;
});

broken.forEach(([title, , message, passed], index) => {
  runner(`fails on ${title}`, () => {
    const section = brokenOutput.split(/^(?=[✘•] )/m).find((text) => text.includes(`/broken-${index}.test.ts: `)) ?? '';
    assert.match(section, `/broken-${index}.test.ts: ${passed} passed, 1 failed`);
    assert.match(section, message);
  });
});

runner('runs a few failed files again, and lists those that pass then as unstable', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-unstable-'));
  // The folder can be removed once.
  const failsOnce = `const { existsSync, rmdirSync } = await import('node:fs');
    a('flies', () => { if (existsSync('${folder}')) { rmdirSync('${folder}'); throw new Error('storm'); } }); a.run();`;
  const { code, output, lastLine } = await runOn({ 'once.test.ts': failsOnce, 'well.test.ts': passing });
  assert.match(output, /✘ \S*once\.test\.ts: 0 passed, 1 failed[\s\S]*storm[\s\S]*• \S*once\.test\.ts: 1 passed/);
  assert.match(output, /\n\nUnstable: [^\n]* once\.test\.ts\n/);
  assert.equal([code, lastLine], [0, '2 passed, 0 failed']);
});

runner('does not run files again when many fail', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const failing = "a('flies', () => assert.ok(false)); a.run();";
  const { output, lastLine } = await runOn(Object.fromEntries(names.map((name) => [`${name}.test.ts`, failing])));
  assert.is(output.match(/^✘ /gm)?.length, names.length);
  assert.is(lastLine, '0 passed, 6 failed');
});

/** Blocks the event loop forever without using CPU time. */
const blocking = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)';

runner(
  'fails a test that hangs, runs those after it, and counts passed tests before one that never yields',
  async () => {
    const { code, output, lastLine } = await runOn(
      {
        'loop.test.ts': `a('flies', () => {}); a('sings', () => ${blocking}); ${passing}`,
        'wait.test.ts': `a('sings', () => new Promise(() => {})); ${passing}`,
        'well.test.ts': passing,
      },
      '--timeout',
      '2',
    );
    assert.match(output, /loop\.test\.ts: 1 passed, 1 failed/);
    assert.match(output, /hangs: birds: sings was stopped after 7 s/);
    assert.match(output, /wait\.test\.ts: 1 passed, 1 failed/);
    assert.match(output, /hangs: no result within 2 s/);
    assert.is(lastLine, '3 passed, 2 failed');
    assert.is(code, 1);
  },
);

const onLinux = process.platform === 'linux' ? runner : runner.skip;

onLinux('counts the CPU time of processes that their parent does not wait for', async () => {
  const busy = 'while (process.cpuUsage().user < 300_000); setInterval(() => {}, 100_000)';
  const browser = spawn('sh', ['-c', '"$0" --eval "$1" & sleep 100', process.execPath, busy], { detached: true });
  const session = browser.pid as number;
  try {
    await eventually('its page has worked', () => cpuOfSession(session) >= 0.3, 60);
    assert.ok(cpuOfProcess(session) < 0.1);
  } finally {
    process.kill(-session, 'SIGKILL');
  }
});

runner.run();
