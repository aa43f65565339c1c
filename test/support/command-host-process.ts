/** The process that command-host.ts starts. */
import { readdirSync, readlinkSync } from 'node:fs';
import { globalAgent as httpAgent } from 'node:http';
import { globalAgent as httpsAgent } from 'node:https';
import { tmpdir } from 'node:os';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { main } from 'tenantry';
import './usual-priority.mjs';
import type { Command, CommandEnd } from './command-host.ts';
import { builtProgram, nativeCache } from './program.ts';

const events = ['beforeExit', 'exit', 'SIGHUP', 'SIGINT', 'SIGTERM', 'uncaughtException', 'unhandledRejection'];
const streams = [process.stdout, process.stderr];

/** Lists open files and sockets, except those of loaded code. */
function openFiles(): readonly string[] {
  const names = readdirSync('/proc/self/fd').map((number) => {
    try {
      return readlinkSync(`/proc/self/fd/${number}`);
    } catch {
      // The folder itself.
      return '';
    }
  });
  return names.filter((name) => /^(\/|socket:)/.test(name) && !name.startsWith(nativeCache));
}

/** Whether the process has resources that keep it alive and did not exist before. */
function isBusy(before: readonly string[]): boolean {
  const others = [...before];
  return process.getActiveResourcesInfo().some((name) => {
    const index = others.indexOf(name);
    if (index >= 0) others.splice(index, 1);
    return index < 0;
  });
}

/** Resolves when no resource of the command would keep its process alive. */
async function idle(before: readonly string[]): Promise<void> {
  await setImmediate();
  // Expired timers are not listed as resources.
  for (let pauseMs = 1; isBusy(before); pauseMs = Math.min(2 * pauseMs, 50)) await setTimeout(pauseMs);
}

async function run({ env, folder, endMark, words }: Command): Promise<void> {
  const [before, filesBefore] = [process.getActiveResourcesInfo(), openFiles()];
  const listenersBefore = new Set(events.flatMap((event) => process.rawListeners(event)));
  process.chdir(folder);
  process.env = env;
  process.argv = [process.execPath, builtProgram, ...words];
  process.exitCode = undefined;
  await main(words);
  await idle(before);
  const code = Number(process.exitCode ?? 0);
  for (const event of events)
    for (const listener of process.rawListeners(event))
      if (!listenersBefore.has(listener)) {
        if (event === 'exit') listener.call(process, code);
        process.off(event, listener as () => void);
      }
  process.chdir(tmpdir());
  // Close keep-alive connections: a real process would close them by ending.
  for (const agent of [httpAgent, httpsAgent]) agent.destroy();
  await Promise.all(streams.map((stream) => new Promise((written) => stream.write('', written))));
  // Fail if the command left a file or lock open, which a real process would close by ending.
  if (openFiles().some((name) => !filesBefore.includes(name))) process.exit(code);
  process.exitCode = undefined;
  for (const stream of streams) stream.write(endMark);
  const { system, user } = process.cpuUsage();
  process.send?.({ code, cpuSeconds: (user + system) / 1e6 } satisfies CommandEnd);
}

process.on('message', (command: Command) => void run(command));
process.on('disconnect', () => process.exit());
