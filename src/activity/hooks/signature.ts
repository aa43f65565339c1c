import { createHmac } from 'node:crypto';

const prefix = 'whsec_';

/** Creates a signing secret in the format of Standard Webhooks libraries. */
export const newSecret = (random: (bytes: number) => Buffer): string => prefix + random(32).toString('base64');

/** Returns the Standard Webhooks headers with the id and, if there was an attempt, its timestamp (`at` in microseconds). */
export const messageHeaders = (id: string, at?: number): Record<string, string> => ({
  'webhook-id': id,
  ...(at !== undefined && { 'webhook-timestamp': String(Math.floor(at / 1_000_000)) }),
});

/**
 * Returns the Standard Webhooks headers. `id` is the same for every attempt, `at` is the time of the attempt in microseconds.
 * Signs with every secret, so that a receiver needs only one of them.
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
