/*
 * The most that node:http can do: the bytes of every answer of a case lie ready in memory. The parent process sends them
 * and is told the address to ask.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { numberMark, type RecordedAnswer } from './ask.ts';

let answers = new Map<string, RecordedAnswer>();

const server = createServer((message, outgoing) => {
  const send = (): void => {
    const url = message.url as string;
    const { status, headers, body } =
      answers.get(url) ?? (answers.get(url.slice(0, -numberMark.length) + numberMark) as RecordedAnswer);
    outgoing.writeHead(status, headers as string[]).end(body);
  };
  if (message.method === 'GET') return send();
  message.on('end', send);
  message.resume();
});

process.on('message', (recorded: readonly (readonly [target: string, answer: RecordedAnswer])[]) => {
  answers = new Map(recorded);
  process.send?.('ready');
});
process.on('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
);
