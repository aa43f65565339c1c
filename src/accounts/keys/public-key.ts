import { createHash } from 'node:crypto';

/** The parts of an SSH public key in OpenSSH's one-line format that the API shows. */
interface PublicKey {
  readonly comment: string;
  /** MD5 of the body as hex pairs joined with colons. */
  readonly fingerprint: string;
  /** `SHA256:` and the unpadded base64 of the body's SHA-256. */
  readonly fingerprintSha256: string;
}

/**
 * The fields of a key's body after its type word, by type (RFC 4253 6.6, RFC 5656 3.1, RFC 8709 4, OpenSSH PROTOCOL.u2f):
 * a number is the exact length of the field in bytes, null any length above zero.
 */
const layouts: Readonly<Record<string, readonly (number | null)[]>> = {
  'ssh-rsa': [null, null],
  'ecdsa-sha2-nistp256': [8, 65],
  'ecdsa-sha2-nistp384': [8, 97],
  'ecdsa-sha2-nistp521': [8, 133],
  'ssh-ed25519': [32],
  'sk-ssh-ed25519@openssh.com': [32, null],
  'sk-ecdsa-sha2-nistp256@openssh.com': [8, 65, null],
};

/** Parses a public key of a known type. Returns undefined if its body is incomplete or names another type. */
export function parsePublicKey(line: string): PublicKey | undefined {
  const match = /^(\S+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+(.*))?$/.exec(line);
  if (!match) return undefined;
  const [, type = '', encoded = '', comment = ''] = match;
  const layout = Object.hasOwn(layouts, type) ? layouts[type] : undefined;
  const body = Buffer.from(encoded, 'base64');
  if (!layout || body.toString('base64') !== encoded) return undefined;
  const [word, ...fields] = splitFields(body) ?? [];
  if (word?.toString('latin1') !== type || fields.length !== layout.length) return undefined;
  if (!fields.every(({ length }, i) => (layout[i] === null ? length > 0 : length === layout[i]))) return undefined;
  const curve = /nistp\d+/.exec(type)?.[0];
  if (curve !== undefined && fields[0]?.toString('latin1') !== curve) return undefined;
  return {
    comment: comment.trim(),
    fingerprint: createHash('md5')
      .update(body)
      .digest('hex')
      .replaceAll(/..(?!$)/g, '$&:'),
    fingerprintSha256: `SHA256:${createHash('sha256').update(body).digest('base64').replace(/=+$/, '')}`,
  };
}

/** Returns the length-prefixed fields of a body; undefined if it is truncated or has trailing bytes. */
function splitFields(body: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < body.length) {
    if (at + 4 > body.length) return undefined;
    const end = at + 4 + body.readUInt32BE(at);
    if (end > body.length) return undefined;
    fields.push(body.subarray(at + 4, end));
    at = end;
  }
  return fields;
}
