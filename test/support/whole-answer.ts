import type { IncomingMessage } from 'node:http';

/** The body of an answer; of a stream of events, which does not end, what comes first. Rejects when it breaks off. */
export function wholeAnswer(answer: IncomingMessage): Promise<Buffer> {
  const isStream = answer.headers['content-type'] === 'text/event-stream';
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (!isStream) return;
      resolve(chunk);
      answer.destroy();
    });
    // After a stream was left this changes nothing any more.
    answer.on('error', reject);
    answer.on('end', () => resolve(Buffer.concat(chunks)));
  });
}
