import type { IncomingMessage } from 'node:http';

/** Reads the body of a response; of an endless event stream, only the first chunk. Rejects if the body is incomplete. */
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
    // No effect on a cancelled stream.
    response.on('error', reject);
    response.on('end', () => resolve(Buffer.concat(chunks)));
  });
}
