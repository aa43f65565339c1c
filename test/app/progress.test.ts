import { platform } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { measuringProgress, reportProgress, showingProgress } from '../../src/kernel/progress.ts';
import { builtProgram, type Ended, nativeCache, Program } from '../support/program.ts';

const progress = suite('progress of long work');
const program = new Program(nativeCache);
const terminal = new Program(nativeCache, ['script']);
/** Runs a command in a terminal, which shows both streams. */
const atTerminal = (words: string): ReturnType<Program['run']> =>
  terminal.run(['-qefc', `'${process.execPath}' '${builtProgram}' ${words}`, '/dev/null']);
/** The successive contents of the progress line. */
const linesOf = ({ stdout }: Ended): string[] => stdout.split('\r\x1b[K');
const data = join(program.folder, 'data');

progress.after(async () => {
  for (const each of [program, terminal]) await each.end();
});

progress('overwrites one line, at most ten times a second, and clears it when the work is done', async () => {
  let written = '';
  const terminal = { isTTY: true, write: (text: string) => (written += text) };
  const outcome = await showingProgress(terminal, async () => {
    for (const done of [1, 2, 3]) reportProgress('counting', done, 4);
    return 'done';
  });
  assert.equal([outcome, written], ['done', '\r\x1b[Kcounting: 25 %\r\x1b[K']);
  reportProgress('counting', 4, 4);
  assert.is(written, '\r\x1b[Kcounting: 25 %\r\x1b[K');
});

progress('measures work without progress reports, in bytes when the total is unknown', async () => {
  let report: (text: string) => void = () => undefined;
  const line = new Promise<string>((resolve) => (report = resolve));
  await showingProgress({ isTTY: true, write: report }, () =>
    measuringProgress(
      'reading',
      () => [2_500_000, undefined],
      async () => void (await line),
    ),
  );
  assert.is(await line, '\r\x1b[Kreading: 2.5 MB');
});

progress('writes no progress to a pipe', async () => {
  const written: string[] = [];
  await showingProgress({ write: (text: string) => written.push(text) }, async () => reportProgress('counting', 1, 4));
  assert.equal(written, []);
  const { code, stderr } = await program.run(['demo', '--data', data]);
  assert.equal([code, stderr], [0, '']);
});

// This util-linux command runs a program in a separate terminal.
const onLinux = platform() === 'linux' ? progress : progress.skip;
if (platform() !== 'linux') console.log('Progress in a real terminal is tested on Linux only.');

onLinux('shows the progress of demo, backup and restore in a terminal, and none with --quiet', async () => {
  const demo = linesOf(await atTerminal(`demo --seed other --data ${data}-new`));
  assert.ok(demo.some((line) => /^letting two years pass: \d+ %$/.test(line)));
  assert.match(demo.at(-1) ?? '', /^The sample data is ready/);
  const copy = linesOf(await atTerminal(`backup ${program.folder}/copy --data ${data}`));
  assert.ok(copy.some((line) => /^(copying the data|packing the copy): \d+ %$/.test(line)));
  const restored = linesOf(await atTerminal(`restore ${program.folder}/copy --data ${data}-restored`));
  assert.ok(restored.some((line) => /^reading the backup: \d+ %$/.test(line)));
  const quiet = await atTerminal(`backup ${program.folder}/again --quiet --data ${data}`);
  assert.equal(quiet, { code: 0, stdout: '', stderr: '' });
});

progress.run();
