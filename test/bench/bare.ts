/*
 * The upper limit of node:http: all responses of a case are prepared in memory. The parent process sends them and receives the
 * address of the server.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { numberMark, type RecordedResponse } from './ask.ts';

interface Ready extends Omit<RecordedResponse, 'body'> {
  readonly body: Buffer;
}

let responses = new Map<string, Ready>();

const server = createServer((message, outgoing) => {
  const send = (): void => {
    const requests = `${message.method} ${message.url}`;
    const { status, headers, body } =
      responses.get(requests) ??
      responses.get(requests.slice(0, -numberMark.length) + numberMark) ??
      (responses.values().next().value as Ready);
    outgoing.writeHead(status, headers as string[]).end(body);
  };
  if (message.method === 'GET') return send();
  message.on('end', send);
  message.resume();
});

process.on('message', (recorded: readonly (readonly [target: string, response: RecordedResponse])[]) => {
  responses = new Map(
    recorded.map(([target, response]) => [target, { ...response, body: Buffer.from(response.body) }]),
  );
  process.send?.('ready');
});
process.on('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
);
