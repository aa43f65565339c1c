/*
 * The most that node:http can do: the bytes of every answer of a case lie ready in memory. The parent process sends them
 * and is told the address to ask.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { numberMark, type RecordedAnswer } from './ask.ts';

interface Ready extends Omit<RecordedAnswer, 'body'> {
  readonly body: Buffer;
}

let answers = new Map<string, Ready>();

const server = createServer((message, outgoing) => {
  const send = (): void => {
    const asked = `${message.method} ${message.url}`;
    const { status, headers, body } =
      answers.get(asked) ??
      answers.get(asked.slice(0, -numberMark.length) + numberMark) ??
      (answers.values().next().value as Ready);
    outgoing.writeHead(status, headers as string[]).end(body);
  };
  if (message.method === 'GET') return send();
  message.on('end', send);
  message.resume();
});

process.on('message', (recorded: readonly (readonly [asked: string, answer: RecordedAnswer])[]) => {
  answers = new Map(recorded.map(([asked, answer]) => [asked, { ...answer, body: Buffer.from(answer.body) }]));
  process.send?.('ready');
});
process.on('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
);
