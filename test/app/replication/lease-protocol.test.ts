/** The lease protocol between two servers and a store, in simulated time (core.md 14.8). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Superseded } from '../../../src/app/replication/lease.ts';
import type { LeaseObject } from '../../../src/app/replication/lease-store.ts';
import { leaseRound, Machine, pair, type Simulation } from '../../support/lease-simulation.ts';

const test = suite('protocol of the lease');

const stored = ({ object }: Simulation): LeaseObject => JSON.parse(object ?? 'null');

test('acquires a missing and a released lease at once, in a higher epoch each time', async () => {
  const { a, b, simulation } = pair();
  a.acquire();
  await simulation.pass(100);
  assert.equal([a.isWriting, stored(simulation).epoch, stored(simulation).ttl], [true, 1, 30]);
  const released = a.lease?.release();
  for (let step = 0; step < 5; step++) await simulation.pass(50);
  await released;
  assert.equal([a.isWriting, stored(simulation)], [false, { epoch: 1, holder: null, ttl: 0 }]);
  b.epoch = 7;
  b.acquire();
  await simulation.pass(100);
  assert.equal([b.isWriting, stored(simulation).epoch], [true, 8]);
});

test('takes over after the object was unchanged for the TTL, and fences the previous holder', async () => {
  const { a, b, simulation } = pair();
  a.acquire();
  await simulation.pass(5000);
  a.stoppedUntil = 60_000;
  b.acquire(true);
  await simulation.pass(29_000);
  assert.is(b.lease, undefined, 'not before the TTL by its own clock');
  await simulation.pass(6000);
  assert.ok(b.isWriting, 'within 45 s');
  await simulation.pass(25_000);
  assert.is(a.isWriting, false);
  assert.match(String(a.lease?.problem()), /^the lease has expired/);
  const released = b.lease?.release();
  for (let step = 0; step < 50; step++) await simulation.pass(50);
  await released;
  await simulation.pass(6000);
  let fencedBy = 0;
  a.lease?.onSuperseded((epoch) => (fencedBy = epoch));
  assert.is(fencedBy, 2);
  // A reset of its data does not compete either.
  a.acquire();
  await simulation.pass(1000);
  assert.ok(a.error instanceof Superseded);
});

test('takes over within a second of the end of the TTL, although the last renewal arrived late', async () => {
  const { a, b, simulation } = pair();
  a.acquire();
  await simulation.pass(5000);
  // The response to the renewal after 10 s is lost: the store has stored it, but the holder does not know.
  a.outcome = () => ({ lost: 'response', ms: 20 });
  b.acquire(true);
  await simulation.pass(35_000);
  assert.is(b.lease, undefined);
  await simulation.pass(600);
  assert.ok(b.isWriting, '40.6 s after the lost connection at most');
});

test('resumes when a take-over fails, and is fenced when it succeeds', async () => {
  const { a, b, simulation } = pair();
  a.acquire();
  await simulation.pass(5000);
  const lost = { lost: 'request', ms: 0 } as const;
  a.outcome = () => lost;
  b.acquire(true);
  await simulation.pass(31_000);
  assert.equal([b.isWriting, stored(simulation).isTakeOver], [true, true]);
  // The connection recovers while the command that took over the lease is still running.
  a.outcome = () => ({ ms: 20 });
  await simulation.pass(10_000);
  assert.equal(
    [a.isWriting, a.lease?.problem()],
    [
      false,
      'the lease has expired, and no changes are accepted: a command takes the lease over: run it again if it was interrupted',
    ],
  );
  const restarted = new Machine(simulation);
  restarted.epoch = 1;
  restarted.acquire();
  await simulation.pass(1000);
  assert.equal([restarted.lease, restarted.error], [undefined, undefined], 'a start waits, too');
  restarted.stoppedUntil = Number.POSITIVE_INFINITY;
  const failed = b.lease?.release(false);
  for (let step = 0; step < 50; step++) await simulation.pass(50);
  await failed;
  assert.equal([a.isWriting, stored(simulation).epoch], [true, 1]);
  a.outcome = () => lost;
  const again = new Machine(simulation);
  again.acquire(true);
  await simulation.pass(41_000);
  a.outcome = () => ({ ms: 20 });
  const done = again.lease?.release(true);
  for (let step = 0; step < 50; step++) await simulation.pass(50);
  await done;
  await simulation.pass(6000);
  let fencedBy = 0;
  a.lease?.onSuperseded((epoch) => (fencedBy = epoch));
  assert.equal([a.isWriting, fencedBy], [false, 2]);
});

test('waits for a holder that renews, and gives up with a readable error', async () => {
  const { a, b, simulation } = pair();
  a.acquire();
  await simulation.pass(1000);
  b.acquire(true);
  await simulation.pass(90_000);
  assert.match(String(b.error), /another server holds the lease of lease_url and renews it/);
  assert.ok(a.isWriting);
});

test('stops 25 s after the last renewal was sent, by either clock, and continues when the object is unchanged', async () => {
  const { a, simulation } = pair();
  a.acquire();
  await simulation.pass(100);
  a.outcome = () => ({ lost: 'request', ms: 0 });
  await simulation.pass(24_800);
  assert.ok(a.isWriting);
  await simulation.pass(200);
  assert.is(a.isWriting, false);
  a.outcome = () => ({ ms: 20 });
  await simulation.pass(6000);
  assert.ok(a.isWriting, 'nobody else took it');
  // The monotonic clock stops while the machine is suspended.
  simulation.at += 26_000;
  a.suspended += 26_000;
  assert.is(a.isWriting, false);
});

test('logs the end of the lease when it happens, although a renewal still waits for its response', async () => {
  const { a, simulation } = pair();
  a.acquire();
  await simulation.pass(9000);
  // Requests are lost after 20 s and again after 25 s; each fails only after 4 s.
  a.outcome = () => ({ lost: 'request', ms: 0 });
  while (a.isWriting) await simulation.pass(10);
  const ended = simulation.at;
  await simulation.pass(60_000);
  assert.equal(
    a.errors.map(({ message }) => message),
    ['the lease has expired: no changes are accepted'],
  );
  assert.ok(Math.abs(ended - (a.errors[0]?.at ?? 0)) <= 20, `${a.errors[0]?.at} instead of ${ended}`);
});

test('renews again at once when the store executes an old renewal after an outage', async () => {
  const { a, simulation } = pair();
  a.acquire();
  await simulation.pass(9000);
  // The store executes each request 18 s later. The first renewal, sent after 10 s, is valid until 35 s.
  a.outcome = () => ({ ms: 36_000 });
  await simulation.pass(20_000);
  assert.is(a.isWriting, false);
  a.outcome = () => ({ ms: 20 });
  await simulation.pass(2000);
  for (let second = 31; second < 60; second++) {
    assert.ok(a.isWriting, `after ${second} s`);
    await simulation.pass(1000);
  }
});

test('continues after renewals and an acquisition whose responses were lost', async () => {
  const { a, simulation } = pair();
  let count = 0;
  a.outcome = () => (++count === 2 || count % 3 === 0 ? { lost: 'response', ms: 20 } : { ms: 20 });
  a.acquire();
  for (let second = 0; second < 120; second++) {
    await simulation.pass(1000);
    if (second > 15) assert.ok(a.isWriting, `after ${second} s`);
  }
});

test('recognises its own acquisition after a kill interrupted it', async () => {
  const { a, simulation } = pair();
  a.acquire();
  await simulation.pass(100);
  const { holder } = stored(simulation);
  // Its database does not have the epoch yet.
  const again = new Machine(simulation);
  again.acquire(false, holder ?? undefined);
  a.stoppedUntil = Number.POSITIVE_INFINITY;
  await simulation.pass(35_000);
  assert.ok(again.isWriting);
});

test('never lets two servers write in overlapping terms, with partitions, stops and suspensions', async () => {
  let moves = 0;
  for (let seed = 1; seed <= 12; seed++) moves += await leaseRound(seed);
  assert.ok(moves > 24, `the lease moved ${moves} times`);
});

test.run();
