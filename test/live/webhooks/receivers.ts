import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { receiverCode, startReceiver } from '../../support/manual-receiver.ts';
import { goBuild, pythonPrograms } from '../packages.ts';

/** A message as received, and the key to verify it with. */
export interface Message {
  /** The receiver's secret (`whsec_`) or public key (`whpk_`). */
  readonly key: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the verdict of a library or receiver on each message. */
export type Verifier = (messages: readonly Message[]) => Promise<string[]>;

/** The manual's receivers in Node.js, Python and Go, as verifiers. */
export async function manualReceivers(): Promise<Readonly<Record<string, Verifier>>> {
  const python = `${await pythonPrograms('webhooks')}/python`;
  const saved =
    (file: string) =>
    (folder: string, code: string): string => {
      const path = join(folder, file);
      writeFileSync(path, code);
      return path;
    };
  return {
    'Node.js': verifier('js', async (...source) => [process.execPath, saved('receiver.mjs')(...source)]),
    Python: verifier('python', async (...source) => [python, saved('receiver.py')(...source)]),
    Go: verifier('go', async (folder, code) => {
      saved('receiver.go')(folder, code);
      saved('go.mod')(folder, 'module receiver\n\ngo 1.21.0\n');
      return [await goBuild(folder)];
    }),
  };
}

/** Returns the command that runs a receiver. Its code must be saved in the folder. */
type Prepare = (folder: string, code: string) => Promise<readonly [string, ...string[]]>;

/** Sends messages to a receiver, which runs once per key: 204 accepts, 401 rejects. */
const verifier =
  (language: 'js' | 'python' | 'go', prepare: Prepare): Verifier =>
  async (messages) => {
    const folder = mkdtempSync(join(tmpdir(), 'tenantry-receivers-'));
    try {
      mkdirSync(join(folder, language));
      const port = await freePort();
      const [command, ...words] = await prepare(join(folder, language), receiverCode(language, port));
      const verdicts = new Map<Message, string>();
      for (const key of new Set(messages.map((message) => message.key))) {
        const receiver = await startReceiver(command, words, port, key);
        try {
          for (const message of messages.filter((one) => one.key === key))
            verdicts.set(message, await verdictOf(receiver.url, message));
        } finally {
          await receiver.stop();
        }
      }
      return messages.map((message) => verdicts.get(message) ?? 'not sent');
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

async function verdictOf(url: string, { body, headers }: Message): Promise<string> {
  const { status } = await fetch(url, { method: 'POST', headers, body });
  if (status === 204) return 'accepted';
  return status === 401 ? 'rejected' : `status ${status}`;
}
