import { createHmac } from 'node:crypto';

const prefix = 'whsec_';

/** A new signing secret: text that receivers paste into their Standard Webhooks library. */
export const newSecret = (random: (bytes: number) => Buffer): string => prefix + random(32).toString('base64');

/** The headers of Standard Webhooks that name a message, and its attempt where there was one (`at` in microseconds). */
export const messageHeaders = (id: string, at?: number): Record<string, string> => ({
  'webhook-id': id,
  ...(at !== undefined && { 'webhook-timestamp': String(Math.floor(at / 1_000_000)) }),
});

/**
 * The headers of Standard Webhooks. `id` names the message whatever the attempt, `at` is the instant of the attempt in
 * microseconds; with several secrets a receiver may know any of them.
 */
export function signatureHeaders(
  secrets: readonly string[],
  id: string,
  at: number,
  body: string,
): Record<string, string> {
  const headers = messageHeaders(id, at);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${headers['webhook-timestamp']}.${body}`).digest('base64')}`;
  });
  return { ...headers, 'webhook-signature': signatures.join(' ') };
}
