import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nextSlice, nextTurn } from '../../src/kernel/next-turn.ts';

const turns = suite('turns of the event loop');

turns('reads input of another socket before the next turn', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const [first, second] = await Promise.all([0, 1].map(() => connected(port)));
    while (sockets.length < 2) await once(server, 'connection');
    const seen: string[] = [];
    const resumed = new Promise<void>((resolve) => {
      for (const socket of sockets)
        socket.on('data', (data) => {
          seen.push(data.toString());
          if (data.toString() !== 'first') return;
          // The data reaches the other socket immediately, but only the next poll of all sockets finds it.
          second?.write('second');
          void nextTurn().then(() => {
            seen.push('resumed');
            resolve();
          });
        });
    });
    first?.write('first');
    await resumed;
    assert.equal(seen, ['first', 'second', 'resumed']);
    first?.destroy();
    second?.destroy();
  } finally {
    server.close();
  }
});

turns('slices of several tasks never share a turn, and alternate', async () => {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const slices: [work: string, turn: number][] = [];
  await Promise.all(
    ['first', 'second', 'third'].map(async (work) => {
      for (let i = 0; i < 3; i++) {
        await nextSlice();
        slices.push([work, turn]);
      }
    }),
  );
  isOver = true;
  const round = ['first', 'second', 'third'];
  assert.equal(
    slices.map(([work]) => work),
    [...round, ...round, ...round],
  );
  assert.is(new Set(slices.map(([, when]) => when)).size, slices.length);
});

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

turns.run();
