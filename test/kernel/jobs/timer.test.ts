import { setImmediate as turn } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { minute } from '../../../src/kernel/clock.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { type Task, Timer } from '../../../src/kernel/jobs/timer.ts';
import { suiteWithServerPerTest } from '../../support/suite.ts';

const { test, fixture } = suiteWithServerPerTest('timer');

let done: string[];
test.before.each(() => {
  done = [];
});

/** A task that finishes after this many pieces. */
const work = (name: string, pieces: number, every = 0): Task => ({
  name,
  every,
  run: () => {
    done.push(name);
    return --pieces > 0;
  },
});

const timerOf = (...tasks: Task[]): Timer => new Timer(fixture.server.app, tasks);

test('a task runs when it is due, and not again before its time has passed', () => {
  const timer = timerOf(work('sweep', 1, minute));
  timer.tick();
  fixture.clock.advance(59);
  timer.tick();
  assert.equal(done, ['sweep']);
  fixture.clock.advance(1);
  timer.tick();
  assert.equal(done, ['sweep', 'sweep']);
});

test('a tick without on-demand tasks runs the others, and the next tick runs all', () => {
  const timer = timerOf({ ...work('index', 1), isOnDemand: true }, work('sweep', 1));
  timer.tick(false);
  assert.equal(done, ['sweep']);
  timer.tick();
  assert.equal(done, ['sweep', 'index', 'sweep']);
});

test('a task also runs after the clock was set back', () => {
  const timer = timerOf(work('sweep', 1, minute));
  timer.tick();
  fixture.clock.advance(-3600);
  timer.tick();
  assert.equal(done, ['sweep', 'sweep']);
});

test('runs the remaining work of tasks in alternating pieces before the next tick', async () => {
  const timer = timerOf(work('events', 3), work('alerts', 1), work('versions', 4));
  timer.tick();
  assert.equal(done, ['events', 'alerts', 'versions']);
  await timer.idle();
  assert.equal(done.slice(3), ['events', 'versions', 'events', 'versions', 'versions']);
});

test('runs every piece in its own transaction and yields to the event loop in between', async () => {
  const { db } = fixture.server.app;
  const commits: number[] = [];
  let turns = 0;
  let pieces = 3;
  const timer = timerOf({
    name: 'remove',
    every: 0,
    run: () =>
      db.write(() => {
        db.run(sql`UPDATE user SET description = ${`${turns}`}`);
        db.afterCommit(() => commits.push(pieces));
        return --pieces > 0;
      }),
  });
  timer.tick();
  const isIdle = timer.idle().then(() => true);
  while (!(await Promise.race([isIdle, turn(false)]))) turns++;
  await new Promise((resolve) => db.afterCommit(resolve));
  assert.equal(commits, [2, 1, 0], 'committed before the next piece began');
  assert.ok(turns >= 2);
});

test('pieces of two tasks are two transactions, also in one tick', async () => {
  const { db } = fixture.server.app;
  const piece = (name: string, pieces: number): Task => ({
    name,
    every: 0,
    run: () =>
      db.write(() => {
        done.push(name);
        db.run(sql`UPDATE user SET description = ${name}`);
        db.afterCommit(() => done.push(`${name} committed`));
        return --pieces > 0;
      }),
  });
  const timer = timerOf(piece('events', 2), piece('versions', 2));
  timer.tick();
  assert.equal(done, ['events', 'events committed', 'versions', 'versions committed']);
  await timer.idle();
});

test('does not start an unfinished task again at the next tick', async () => {
  const timer = timerOf(work('events', 3));
  timer.tick();
  timer.tick();
  assert.equal(done, ['events']);
  await timer.idle();
  assert.equal(done, ['events', 'events', 'events']);
});

test('a failing task does not stop others, and is retried', async () => {
  const fails: Task = {
    name: 'fails',
    every: 0,
    run: () => {
      done.push('fails');
      throw new Error('out of luck');
    },
  };
  const timer = timerOf(fails, work('sweep', 2));
  timer.tick();
  await timer.idle();
  assert.equal(done, ['fails', 'sweep', 'sweep']);
  timer.tick();
  assert.equal(done.slice(3), ['fails', 'sweep']);
});

test('a stopped timer runs nothing', async () => {
  const timer = timerOf(work('events', 3));
  timer.tick();
  timer.stop();
  await timer.idle();
  assert.equal(done, ['events']);
});

test.run();
