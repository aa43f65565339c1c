/** Runs the examples of the README and of the manual as printed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import * as assert from 'uvu/assert';
import { builtProgram } from './program.ts';

export interface Block {
  readonly language: string;
  readonly code: string;
}

/** Returns the fenced blocks of a Markdown text, in order. */
export const blocksOf = (markdown: string): Block[] =>
  [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => ({ language, code }));

/** Matches a file name in the first line of a block: `// client.mjs` or `# client.py`. */
const nameOf = (code: string): string | undefined => /^(?:\/\/|#) ([\w-]+\.\w+)\n/.exec(code)?.[1];

/** Whether a text matches the expected one, in which `…` stands for any text. */
export function isExpected(text: string, expected: string): boolean {
  const parts = expected.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[\\s\\S]*?')}$`).test(text);
}

interface Environment {
  /** The working folder of the examples. Its folder `data` is the data folder. */
  readonly folder: string;
  /** The server, http://127.0.0.1:8080 in the examples. */
  readonly url: string;
  /** Its `admin_listen`, http://127.0.0.1:9480 in the examples. */
  readonly adminUrl?: string | undefined;
}

/**
 * Runs the `sh` blocks of a text in one shell. Each must print the `output` block that follows it, or nothing without one. Blocks
 * whose first line is a file name are saved in the folder. Returns the number of `sh` blocks.
 */
export async function runExamples(markdown: string, { adminUrl, folder, url }: Environment): Promise<number> {
  const located = markdown
    .replaceAll('127.0.0.1:8080', new URL(url).host)
    .replaceAll('127.0.0.1:9480', adminUrl === undefined ? '127.0.0.1:1' : new URL(adminUrl).host);
  const examples: { code: string; expected: string }[] = [];
  for (const { code, language } of blocksOf(located)) {
    const name = nameOf(code);
    const last = examples.at(-1);
    if (language === 'sh') examples.push({ code, expected: '' });
    else if (language === 'output' && last) last.expected += code;
    else if (name !== undefined) writeFileSync(join(folder, name), code);
  }
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  if (!existsSync(join(bin, 'tenantry'))) symlinkSync(builtProgram, join(bin, 'tenantry'));
  const script = examples.map(({ code }, index) => `echo '#${index}'\n${code}`);
  const child = spawn('bash', ['-c', ['set -eu -o pipefail', ...script].join('\n')], {
    cwd: folder,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group, to end servers that an example starts.
    detached: true,
  });
  const texts = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => (texts[stream] += text));
  const stop = (): void => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // Every process of the group has ended.
    }
  };
  const timer = setTimeout(stop, 60_000);
  const closed = once(child, 'close');
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(timer);
  stop();
  await closed;
  const printed = texts.stdout.split(/^#\d+\n/m).slice(1);
  for (const [index, { code: example, expected }] of examples.entries()) {
    const text = printed[index];
    if (text === undefined || !isExpected(text, expected))
      assert.is(text, expected, `${example}\nprinted another text; on standard error: ${texts.stderr}`);
  }
  assert.equal([code, texts.stderr], [0, '']);
  return examples.length;
}
