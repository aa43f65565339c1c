/** Rounds of fuzzing, each against a new process with sample data. */

import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { compiled } from '../../support/compiled.ts';
import { type FuzzFigures, fuzz } from '../fuzz.ts';
import type { Target } from './senders.ts';

/** Number of requests after which too few objects of the sample data are left. */
const roundLength = 10_000;

interface Rounds {
  readonly requests: number;
  readonly seed: string;
  /** The built program. */
  readonly bundle: string;
  readonly report: (text: string) => void;
}

/** Sends the requests. Throws the faults, if any. */
export async function fuzzRounds({ bundle, requests, seed, report }: Rounds): Promise<Record<string, number | string>> {
  const responses: Record<string, number> = {};
  const faults: string[] = [];
  let slowOnce = 0;
  for (let first = 0; first < requests; first += roundLength) {
    report(`${first} of ${requests} requests, seed ${seed}`);
    const figures = await inSetup(bundle, (target) =>
      fuzz({ target, first, requests: Math.min(roundLength, requests - first), seed, report }),
    );
    for (const [status, count] of Object.entries(figures.responses))
      responses[status] = (responses[status] ?? 0) + count;
    slowOnce += figures.slowOnce;
    faults.push(...figures.faults);
  }
  if (faults.length > 0) throw new Error(`${faults.length} faults with seed ${seed}:\n${faults.join('\n')}`);
  return { seed, requests, ...responses, 'slow once': slowOnce, faults: 0 };
}

/** Runs `work` against a process with new sample data. Throws when the process ends early or with an error. */
async function inSetup(bundle: string, work: (target: Target) => Promise<FuzzFigures>): Promise<FuzzFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-fuzz-'));
  try {
    execFileSync(process.execPath, [bundle, 'demo', '--data', folder]);
    const child = fork(compiled(new URL('served.ts', import.meta.url)), [bundle, folder], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    // The log has faults that no response reports, such as a failed job.
    const logged: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      if (stream) createInterface({ input: stream }).on('line', (line) => logged.push(line));
    const ended = once(child, 'exit');
    const crashed = ended.then(([code, signal]: unknown[]): never => {
      throw new Error(`The server has ended, ${signal ?? `exit code ${code}`}: ${logged.at(-1)}`);
    });
    const [target] = (await Promise.race([once(child, 'message'), crashed])) as [Target];
    const { faults, ...figures } = await Promise.race([work(target), crashed]);
    crashed.catch(() => undefined);
    child.disconnect();
    const [code] = await ended;
    if (code !== 0) throw new Error(`The server ended with ${code}: ${logged.at(-1)}`);
    return { ...figures, faults: [...faults, ...logged] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
