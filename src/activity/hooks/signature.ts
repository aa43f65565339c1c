import { createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto';

/** Signature algorithms: `v1` and `v1a` of Standard Webhooks. */
export type Signature = 'hmac' | 'ed25519';

/** Standard Webhooks prefixes of shared secrets, private keys and public keys. */
const secretPrefix = 'whsec_';
const privatePrefix = 'whsk_';
const publicPrefix = 'whpk_';

/** PKCS #8 of an Ed25519 private key, up to its 32 bytes. */
const privateKeyHeader = Buffer.from('302e020100300506032b657004220420', 'hex');

const privateKeyOf = (bytes: Buffer) =>
  createPrivateKey({ key: Buffer.concat([privateKeyHeader, bytes]), format: 'der', type: 'pkcs8' });

/** A new signing secret. Receivers verify with the secret itself or with the public key of a private key. */
interface SigningSecret {
  readonly secret: string;
  readonly publicKey: string | null;
}

/** Creates a signing secret in the format of Standard Webhooks libraries. */
export function newSecret(signature: Signature, random: (bytes: number) => Buffer): SigningSecret {
  const bytes = random(32);
  if (signature === 'hmac') return { secret: secretPrefix + bytes.toString('base64'), publicKey: null };
  const { x = '' } = createPublicKey(privateKeyOf(bytes)).export({ format: 'jwk' });
  const publicKey = Buffer.from(x, 'base64url');
  return {
    secret: privatePrefix + Buffer.concat([bytes, publicKey]).toString('base64'),
    publicKey: publicPrefix + publicKey.toString('base64'),
  };
}

/** Returns the Standard Webhooks headers with the id and, after an attempt, its timestamp (`at` in microseconds). */
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
  const content = Buffer.from(`${id}.${headers['webhook-timestamp']}.${body}`);
  return { ...headers, 'webhook-signature': secrets.map((secret) => signatureOf(secret, content)).join(' ') };
}

/** Signs with a shared secret or a private key, depending on the prefix. */
function signatureOf(secret: string, content: Buffer): string {
  if (!secret.startsWith(privatePrefix)) {
    const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  }
  const bytes = Buffer.from(secret.slice(privatePrefix.length), 'base64').subarray(0, 32);
  return `v1a,${sign(null, content, privateKeyOf(bytes)).toString('base64')}`;
}
