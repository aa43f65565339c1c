import { createECDH, createPrivateKey, createPublicKey } from 'node:crypto';
import { present } from '../../kernel/present.ts';
import { repeatableRandom } from '../../kernel/random.ts';

/** The PKCS #8 header of an Ed25519 private key, which has 32 bytes (RFC 8410). */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A random source that is reproducible from a text. */
export class Seed {
  /** Returns the next bytes. Replaces the cryptographic source where data must be reproducible. */
  readonly bytes: (length: number) => Buffer;

  constructor(text: string) {
    this.bytes = repeatableRandom(text);
  }

  /** Returns an integer from 0 to the bound (exclusive). */
  below(bound: number): number {
    return this.bytes(6).readUIntBE(0, 6) % bound;
  }

  /** Returns a random item of a non-empty list. */
  pick<T>(list: readonly T[]): T {
    return present(list[this.below(list.length)]);
  }

  /** Generates an SSH public key and discards its private key. */
  publicKey(comment: string): string {
    const [type, ...fields] = this.below(4) === 0 ? this.#ecdsa() : this.#ed25519();
    const body = Buffer.concat([type, ...fields].map(lengthPrefixed));
    return `${type.toString()} ${body.toString('base64')} ${comment}`;
  }

  #ed25519(): [type: Buffer, point: Buffer] {
    const secret = createPrivateKey({
      key: Buffer.concat([ed25519Prefix, this.bytes(32)]),
      format: 'der',
      type: 'pkcs8',
    });
    const point = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32);
    return [Buffer.from('ssh-ed25519'), point];
  }

  #ecdsa(): [type: Buffer, curve: Buffer, point: Buffer] {
    const pair = createECDH('prime256v1');
    pair.setPrivateKey(this.bytes(32));
    return [Buffer.from('ecdsa-sha2-nistp256'), Buffer.from('nistp256'), pair.getPublicKey()];
  }
}

/** Encodes a field of a key: four bytes of length, then its bytes (RFC 4251 5). */
function lengthPrefixed(field: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(field.length);
  return Buffer.concat([length, field]);
}
