/** The web hook receivers that the manual prints, each as a separate process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';
import { blocksOf } from './documented.ts';
import { eventually } from './eventually.ts';

const page = readFileSync(new URL('../../src/manual/hooks.md', import.meta.url), 'utf8');

/** The port that the manual prints. */
const printedPort = '9000';

/** Returns the manual's receiver in a language (the name on its code block), with `port` instead of the printed one. */
export function receiverCode(language: 'js' | 'python' | 'go', port: number): string {
  const receiver = blocksOf(page).find((block) => block.language === language && block.code.includes(printedPort));
  if (!receiver) throw new Error(`The manual has no receiver in ${language}`);
  return receiver.code.replace(printedPort, String(port));
}

/** A running receiver: its address and its printed lines. */
export interface ManualReceiver {
  readonly url: string;
  readonly lines: Interface;
  stop(): Promise<void>;
}

/** Starts a receiver that listens on `port` and verifies with `key`. Resolves when it rejects an unsigned request. */
export async function startReceiver(
  command: string,
  words: readonly string[],
  port: number,
  key: string,
): Promise<ManualReceiver> {
  const child = spawn(command, words, { env: { ...process.env, KEY: key }, stdio: 'pipe' });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const url = `http://127.0.0.1:${port}/`;
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill();
    await once(child, 'close');
  };
  try {
    await eventually('the receiver rejects an unsigned request', () => {
      if (child.exitCode !== null) throw new Error(`The receiver exited with ${child.exitCode}: ${errors}`);
      return fetch(url, { method: 'POST', body: '{}' }).then(
        ({ status }) => status === 401,
        () => false,
      );
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, lines: createInterface(child.stdout), stop };
}
