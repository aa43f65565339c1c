import type { IncomingMessage } from 'node:http';

/** The body of a response; of an endless event stream, the first chunk. Rejects when it breaks off. */
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
    // Has no effect after a stream was cancelled.
    response.on('error', reject);
    response.on('end', () => resolve(Buffer.concat(chunks)));
  });
}
