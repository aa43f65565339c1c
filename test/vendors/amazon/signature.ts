import { createHash, createHmac } from 'node:crypto';
import type { VendorRequest } from '../server.ts';

/* Signature V4 as publicly documented, computed from the received request. */

/** Milliseconds for which a signature is valid before and after its time. */
const validity = 15 * 60_000;

export interface Signed {
  readonly accessKey: string;
  readonly region: string;
}

/**
 * Returns the signer of a request and the region, or the fault of the signature. `secretOf` returns the secret of an access key.
 */
export function checkSignature(
  { headers, method, target, text }: VendorRequest,
  secretOf: (accessKey: string) => string | undefined,
  now = Date.now(),
): Signed | 'unsigned' | 'expired' | 'invalid' {
  const input =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([a-z0-9-]+)\/ec2\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (!input) return headers.authorization === undefined ? 'unsigned' : 'invalid';
  const [, accessKey = '', day = '', region = '', names = '', signature] = input;
  const time = String(headers['x-amz-date'] ?? '');
  const instant = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (Number.isNaN(instant) || !time.startsWith(day)) return 'invalid';
  if (Math.abs(now - instant) > validity) return 'expired';
  const signed = names.split(';');
  const secret = secretOf(accessKey);
  if (secret === undefined || !signed.includes('host') || !signed.includes('x-amz-date')) return 'invalid';
  const [path = '/', query = ''] = target.split('?');
  const canonical = [
    method,
    path,
    query.split('&').sort().join('&'),
    ...signed.map(
      (name) =>
        `${name}:${String(headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    '',
    names,
    sha256(text),
  ].join('\n');
  const scope = `${day}/${region}/ec2/aws4_request`;
  const key = [day, region, 'ec2', 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secret}`);
  const expected = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex');
  return expected === signature ? { accessKey, region } : 'invalid';
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
