/** A thread for one kind of work: turns, limits, and what happens when it ends. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TaskError, TaskThread } from '../../../src/kernel/threads/task-thread.ts';

/** Tasks of the test thread, in the format that its program reads. */
type Task = 'thread' | 'forever' | 'exit' | 'throw' | 'refuse' | { readonly echo: unknown };

/** Implements the protocol of `serveTasks`. */
const program = `
  const { parentPort, threadId } = require('node:worker_threads');
  parentPort.on('message', (task) => {
    if (task === 'forever') for (;;);
    if (task === 'exit') process.exit(3);
    if (task === 'throw') throw new Error('out of order');
    if (task === 'refuse') return parentPort.postMessage({ error: 'not this one', displayed: 'No.' });
    parentPort.postMessage({ value: task === 'thread' ? threadId : task.echo });
  });
  parentPort.postMessage('ready');`;

const threads = suite('threads for tasks');
let thread: TaskThread;

threads.before.each(() => {
  thread = new TaskThread(
    () => program,
    () => new Error('crowded'),
  );
});
threads.after.each(() => thread.close());

const run = <T>(task: Task, holder = '', milliseconds = 60_000): Promise<T> =>
  thread.run<T>(task, { holder, milliseconds });

/** Returns the error with which a task is rejected. */
const rejection = async (promise: Promise<unknown>): Promise<[message: string, shown: string | undefined]> => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Error, 'it was not rejected');
  return [error.message, error instanceof TaskError ? error.displayed : undefined];
};

threads('one thread runs all tasks, and starts with the first', async () => {
  const ids = await Promise.all([run<number>('thread'), run<number>('thread'), run<number>('thread')]);
  assert.is(new Set(ids).size, 1);
  assert.is.not(ids[0], 0, 'it is not the main one');
  assert.equal(await run({ echo: { list: [1, null], map: new Map([['a', 'b']]) } }), {
    list: [1, null],
    map: new Map([['a', 'b']]),
  });
});

threads('a task may fail, and the next one runs', async () => {
  assert.equal(await rejection(run('refuse')), ['not this one', 'No.']);
  assert.is(await run({ echo: 1 }), 1);
});

threads('a task that takes too long ends with its thread, and the next one has a new thread', async () => {
  const first = await run('thread');
  const [slow, next] = [rejection(run('forever', '', 50)), run('thread')];
  assert.equal(await slow, ['it takes too long', undefined]);
  assert.is.not(await next, first);
});

threads('a crashed thread fails only its own task', async () => {
  for (const [task, message] of [
    ['exit', 'its thread has ended'],
    ['throw', 'out of order'],
  ] as const) {
    assert.equal(await rejection(run(task)), [message, undefined]);
    assert.is(await run({ echo: task }), task);
  }
});

threads('reports a program that does not start, each time', async () => {
  thread = new TaskThread(
    () => 'process.exit(7)',
    () => new Error('crowded'),
  );
  for (let i = 0; i < 2; i++)
    assert.equal(await rejection(run({ echo: 1 })), ['the thread failed: it exited with code 7', undefined]);
  thread = new TaskThread(
    () => {
      throw new Error('no program');
    },
    () => new Error('crowded'),
  );
  for (let i = 0; i < 2; i++) assert.equal(await rejection(run({ echo: 1 })), ['no program', undefined]);
});

threads('the queue is fair, and the user with the most entries of a full queue loses the newest', async () => {
  const order: string[] = [];
  const ask = (name: string, holder: string): Promise<void> =>
    run({ echo: name }, holder).then(
      () => void order.push(name),
      (error: Error) => void order.push(`${name} ${error.message}`),
    );
  const many = Array.from({ length: 66 }, (_, i) => ask(`many ${i}`, 'a'));
  await Promise.all([...many, ask('one', 'b')]);
  // One task runs and 64 wait. The 66th is rejected, and a task of the other holder replaces the 65th.
  assert.equal(order.slice(0, 4), ['many 65 crowded', 'many 64 crowded', 'many 0', 'many 1']);
  assert.equal(order.slice(4, 6), ['one', 'many 2']);
  assert.is(order.length, 67);
});

threads('closing ends the running task and the queue, also while the thread starts', async () => {
  const started = run('thread');
  const waiting = [rejection(run('forever')), rejection(run({ echo: 1 }))];
  await started;
  await thread.close();
  assert.equal(await Promise.all(waiting), [
    ['its thread has ended', undefined],
    ['the service is stopping', undefined],
  ]);
  thread = new TaskThread(
    () => program,
    () => new Error('crowded'),
  );
  const early = rejection(run('forever'));
  await thread.close();
  assert.equal(await early, ['its thread has ended', undefined]);
});

threads.run();
