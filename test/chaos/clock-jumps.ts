/**
 * Sets the clock of a server back and forth by weeks while clients write and a webhook receiver fails at random, kills the
 * server in between, and lets the clock jump while it is down. Events and deliveries are retained for ten days only, so that
 * a server that trusted a jump would delete them.
 *
 * After each start every acknowledged write exists. At the end the clock is right again and pending work continues: each write
 * has its event, and each hook received all events in order. Ends with an error otherwise.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProgramClock } from '../support/program-clock.ts';
import { Receiver } from '../support/receiver.ts';
import {
  ask,
  createHooks,
  Diary,
  examine,
  type Figures,
  login,
  pause,
  randomBehaviour,
  requirePresent,
  startServer,
  writeUntilKilled,
} from './kill.ts';

/** The results of the rounds. */
export interface ClockFigures extends Figures {
  readonly jumps: number;
}

const day = 86_400;
/** Maximum error of the clock in seconds; less than the retention of deliveries when the clock is not set, as at the end. */
const farthest = 20 * day;
/** Maximum number of jumps per round, and milliseconds between them: the server notices some of them and misses others. */
const jumpsInRound = 3;
const longest = 1500;
/** Number of the latest writes to check after a start. */
const lookedFor = 40;
const retention = ['--events-retention', '10d', '--hook-delivery-retention', '10d'];

/** Runs the rounds with the program that this command starts. Throws a readable error when data is lost or work hangs. */
export async function jumpClock(rounds: number, program: readonly string[]): Promise<ClockFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-clock-'));
  const clock = new ProgramClock(folder);
  const data = join(folder, 'data');
  const receiver = await Receiver.start();
  const diary = new Diary();
  receiver.behaviour = (received) => diary.note(received, randomBehaviour());
  const written: string[] = [];
  let [jumps, unanswered, token] = [0, 0, ''];
  const jump = (): void => {
    clock.set(farthest * (2 * Math.random() - 1));
    jumps++;
  };
  const jumpAbout = async (): Promise<void> => {
    for (let left = Math.ceil(jumpsInRound * Math.random()); left > 0; left--) {
      await pause(longest * Math.random());
      jump();
    }
    await pause(longest * Math.random());
  };
  const start = () => startServer(program, data, retention, clock.env);
  try {
    for (let round = 1; round <= rounds; round++) {
      const server = await start();
      if (round === 1) {
        token = await lastingLogin(server.url, data);
        await createHooks(server.url, token, receiver.url);
      }
      await requirePresent(server.url, token, written.slice(-lookedFor));
      unanswered += await writeUntilKilled(server, token, written, jumpAbout);
      if (Math.random() < 0.5) jump();
    }
    clock.set(0);
    // One start with the right clock repairs the effects of the wrong ones.
    await writeUntilKilled(await start(), token, written);
    receiver.behaviour = (received) => diary.note(received, 200);
    const { deliveries, events } = await examine(data, diary, written);
    const { duplicates, requests } = diary;
    return { rounds, jumps, writes: written.length, unanswered, events, deliveries, requests, duplicates };
  } finally {
    await receiver.close();
    rmSync(folder, { recursive: true });
  }
}

/** Logs in with a token that does not expire. */
async function lastingLogin(url: string, data: string): Promise<string> {
  const token = await login(url, data);
  const { body } = await ask(url, token, 'GET', '/api/users/?current');
  const [{ url: me }] = body as [{ url: string }];
  const { status } = await ask('', token, 'PATCH', me, { token_lifetime: null, agree_with_policy: true });
  if (status !== 200) throw new Error(`Setting the lifetime of tokens returned ${status}`);
  return token;
}
