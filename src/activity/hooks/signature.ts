import { createHmac } from 'node:crypto';

const prefix = 'whsec_';

/** A new signing secret: text that receivers paste into their Standard Webhooks library. */
export const newSecret = (random: (bytes: number) => Buffer): string => prefix + random(32).toString('base64');

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
  const timestamp = String(Math.floor(at / 1_000_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
