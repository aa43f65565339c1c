/** A software authenticator with the browser in front of it (WebAuthn level 2), for tests of the server. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { Client, Json } from './fixture.ts';

type Cbor = number | string | Buffer | ReadonlyMap<number | string, Cbor>;

/** Encodes a value as CBOR (RFC 8949). */
export function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, item]) => [cbor(key), cbor(item)])]);
}

function head(kind: number, size: number): Buffer {
  if (size < 24) return Buffer.from([(kind << 5) | size]);
  if (size < 256) return Buffer.from([(kind << 5) | 24, size]);
  return Buffer.from([(kind << 5) | 25, size >> 8, size & 255]);
}

export type Algorithm = 'ES256' | 'EdDSA' | 'RS256';

const bytes = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64url');
const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

function newKey(algorithm: Algorithm): { readonly key: KeyObject; readonly cose: Buffer } {
  if (algorithm === 'ES256') {
    const { privateKey: key, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x, y } = publicKey.export({ format: 'jwk' });
    return {
      key,
      cose: cbor(
        new Map<number, Cbor>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, bytes(x)],
          [-3, bytes(y)],
        ]),
      ),
    };
  }
  if (algorithm === 'EdDSA') {
    const { privateKey: key, publicKey } = generateKeyPairSync('ed25519');
    const { x } = publicKey.export({ format: 'jwk' });
    return {
      key,
      cose: cbor(
        new Map<number, Cbor>([
          [1, 1],
          [3, -8],
          [-1, 6],
          [-2, bytes(x)],
        ]),
      ),
    };
  }
  const { privateKey: key, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { e, n } = publicKey.export({ format: 'jwk' });
  return {
    key,
    cose: cbor(
      new Map<number, Cbor>([
        [1, 3],
        [3, -257],
        [-1, bytes(n)],
        [-2, bytes(e)],
      ]),
    ),
  };
}

/** Overrides parts of a response. */
export interface Faults {
  readonly type?: string;
  readonly challenge?: string;
  readonly origin?: string;
  readonly crossOrigin?: boolean;
  readonly rpId?: string;
  readonly isPresent?: boolean;
  readonly isVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string | null;
  readonly attestation?: 'none' | 'packed' | 'tpm' | 'forged';
  /** Extension data, as real authenticators add. */
  readonly extensions?: Cbor;
  readonly isSignatureWrong?: boolean;
}

/** An authenticator with one passkey. */
export class Authenticator {
  readonly id = randomBytes(32);
  readonly #key: KeyObject;
  readonly #cose: Buffer;
  #userHandle = '';
  #rpId = '';
  counter = 0;

  /** `origin` is the origin of the page. */
  constructor(
    readonly origin: string,
    readonly algorithm: Algorithm = 'ES256',
  ) {
    const { cose, key } = newKey(algorithm);
    this.#key = key;
    this.#cose = cose;
  }

  /** Returns the response of `navigator.credentials.create()` to these options, as JSON. */
  create(options: Json, faults: Faults = {}): Json {
    this.#userHandle = options.user.id;
    this.#rpId = options.rp.id;
    const { attestation = 'none' } = faults;
    const idLength = Buffer.alloc(2);
    idLength.writeUInt16BE(this.id.length);
    const credential = Buffer.concat([Buffer.alloc(16), idLength, this.id, this.#cose]);
    const data = this.#authenticatorData(faults, credential);
    const client = this.#clientData('webauthn.create', options.challenge, faults);
    const alg = { ES256: -7, EdDSA: -8, RS256: -257 }[this.algorithm];
    const sig = this.#sign(Buffer.concat([data, sha256(attestation === 'forged' ? 'other' : client)]));
    const statement = new Map<string, Cbor>(
      attestation === 'none'
        ? []
        : [
            ['alg', alg],
            ['sig', sig],
          ],
    );
    const format = attestation === 'forged' ? 'packed' : attestation;
    const object = cbor(
      new Map<string, Cbor>([
        ['fmt', format],
        ['attStmt', statement],
        ['authData', data],
      ]),
    );
    return this.#credential({
      clientDataJSON: client.toString('base64url'),
      attestationObject: object.toString('base64url'),
      transports: ['internal'],
    });
  }

  /** Returns the response of `navigator.credentials.get()` to these options, as JSON. */
  get(options: Json, faults: Faults = {}): Json {
    const data = this.#authenticatorData({ counter: ++this.counter, ...faults });
    const client = this.#clientData('webauthn.get', options.challenge, faults);
    const signature = this.#sign(Buffer.concat([data, sha256(client)]));
    if (faults.isSignatureWrong) signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
    return this.#credential({
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: faults.userHandle === undefined ? this.#userHandle : faults.userHandle,
    });
  }

  #credential(response: Json): Json {
    const id = this.id.toString('base64url');
    return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} };
  }

  #authenticatorData(
    { counter = this.counter, extensions, isPresent = true, isVerified = true, rpId = this.#rpId }: Faults,
    credential = Buffer.alloc(0),
  ): Buffer {
    const flags =
      (isPresent ? 1 : 0) | (isVerified ? 4 : 0) | (credential.length > 0 ? 0x40 : 0) | (extensions ? 0x80 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const others = extensions === undefined ? Buffer.alloc(0) : cbor(extensions);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, credential, others]);
  }

  #clientData(type: string, challenge: string, faults: Faults): Buffer {
    return Buffer.from(
      JSON.stringify({ type, challenge, origin: this.origin, crossOrigin: false, ...clientFaults(faults) }),
    );
  }

  #sign(data: Buffer): Buffer {
    return sign(this.algorithm === 'EdDSA' ? null : 'sha256', data, this.#key);
  }
}

const clientFaults = ({ challenge, crossOrigin, origin, type }: Faults): Json =>
  JSON.parse(JSON.stringify({ challenge, crossOrigin, origin, type }));

/** Adds a passkey to the user of a client with a confirmed session. Returns the factor, the body of the 201. */
export async function enrolPasskey(client: Client, authenticator: Authenticator, name?: string): Promise<Json> {
  const options = await client.post('/api/second-factors/passkeys/options/');
  if (options.status !== 200) throw new Error(`expected 200, got ${options.status}: ${JSON.stringify(options.body)}`);
  const { body: factor, status } = await client.post('/api/second-factors/passkeys/', {
    ...(name !== undefined && { name }),
    credential: authenticator.create(options.body),
  });
  if (status !== 201) throw new Error(`expected 201, got ${status}: ${JSON.stringify(factor)}`);
  return factor;
}
