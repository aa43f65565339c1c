import type { IncomingMessage } from 'node:http';

/** The body of an answer; of a stream of events, which does not end, what comes first. Rejects when it breaks off. */
export function readBody(response: IncomingMessage): Promise<Buffer> {
  const isStream = response.headers['content-type'] === 'text/event-stream';
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (!isStream) return;
      resolve(chunk);
      response.destroy();
    });
    // After a stream was left this changes nothing any more.
    response.on('error', reject);
    response.on('end', () => resolve(Buffer.concat(chunks)));
  });
}
