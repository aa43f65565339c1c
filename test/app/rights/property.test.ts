import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { start } from '../../support/fixture.ts';
import { type Call, describeCall } from './model/call.ts';
import { type Difference, play, reported } from './model/player.ts';
import { Random, randomCall } from './model/requests.ts';
import { check } from './model/verdict.ts';
import { emptyState, type Settings } from './model.ts';

/*
 * Sends random requests of random callers to a server and to a model written from the conventions. Status, visibility, effects,
 * usages and events must match. ACCESS_SEED and ACCESS_STEPS set the seed and the number of requests.
 */
const seed = Number(process.env.ACCESS_SEED ?? 20180105);
const steps = Number(process.env.ACCESS_STEPS ?? 10_000);

const test = suite('visibility and rights');

/** Generates a script of requests by playing it in the model only. */
function scriptOf(settings: Settings, length: number): Call[] {
  const random = new Random(seed);
  const state = emptyState(Date.parse(start), settings);
  return Array.from({ length }, (_, index) => {
    const call = randomCall(random, state, index + 1, Date.parse(start));
    check(state, call);
    return call;
  });
}

const isSame = (a: Difference, b: Difference): boolean =>
  [a.about, a.call.method, a.call.on, a.call.tail].join() === [b.about, b.call.method, b.call.on, b.call.tail].join() &&
  (a.about !== 'status' || (a.expected === b.expected && a.got === b.got));

/** Removes requests that the difference does not need from a script, until the time is up. */
async function shortened(
  script: readonly Call[],
  settings: Settings,
  first: Difference,
): Promise<{ script: readonly Call[]; difference: Difference }> {
  const until = performance.now() + 20_000;
  let best = { script: script.slice(0, first.index + 1), difference: first };
  for (let size = Math.ceil(best.script.length / 2); size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0) {
    for (let from = best.script.length - 1 - size; from > -size; from -= size) {
      if (performance.now() > until) return best;
      const fewer = best.script.filter((_, index) => index < Math.max(from, 0) || index >= from + size);
      const difference = await play(fewer, settings);
      if (difference && isSame(difference, first)) best = { script: fewer.slice(0, difference.index + 1), difference };
    }
  }
  return best;
}

async function agree(settings: Settings): Promise<void> {
  const script = scriptOf(settings, Math.ceil(steps / 2));
  console.log(`seed ${seed}, ${script.length} steps`);
  const difference = await play(script, settings);
  if (!difference) return;
  const short = await shortened(script, settings, difference);
  const lastSteps = short.script.slice(-50).map(describeCall);
  const heading = `The last ${lastSteps.length} of ${short.script.length} steps that show it:`;
  console.log([reported(difference), heading, ...lastSteps, reported(short.difference)].join('\n'));
  assert.unreachable(`seed ${seed} makes a difference in step ${difference.call.at}`);
}

test('shows, changes, counts and records on random requests as the tables of visibility and rights define', () =>
  agree({ owners_can_manage_customers: false, owners_can_manage_owners: false, managers_can_manage_admins: false }));

test('holds the same invariant where owners manage customers and co-owners, and managers manage administrators', () =>
  agree({ owners_can_manage_customers: true, owners_can_manage_owners: true, managers_can_manage_admins: true }));

test.run();
