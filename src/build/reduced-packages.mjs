/** Packages of which the bundle contains only parts: how esbuild builds each. */
import { basename, join } from 'node:path';

const passkeys = 'node_modules/@simplewebauthn/server/esm';

/**
 * Verifies signatures of the three passkey algorithms with Node.js. The package uses ASN.1 parsers that are many times its own
 * size.
 */
const signature = `
  import { createPublicKey, verify } from 'node:crypto';
  import { decodeCredentialPublicKey } from './decodeCredentialPublicKey.js';
  const text = (bytes) => Buffer.from(bytes).toString('base64url');
  // By the kind of key: its algorithm, curve, digest, and form as a JSON Web Key.
  const kinds = new Map([
    [1, { alg: -8, curve: 6, digest: null, jwk: (key) => ({ kty: 'OKP', crv: 'Ed25519', x: text(key.get(-2)) }) }],
    [2, { alg: -7, curve: 1, digest: 'sha256', jwk: (key) => ({ kty: 'EC', crv: 'P-256', x: text(key.get(-2)), y: text(key.get(-3)) }) }],
    [3, { alg: -257, digest: 'sha256', jwk: (key) => ({ kty: 'RSA', n: text(key.get(-1)), e: text(key.get(-2)) }) }],
  ]);
  export async function verifySignature({ credentialPublicKey, data, signature }) {
    const key = decodeCredentialPublicKey(credentialPublicKey);
    const kind = kinds.get(key.get(1));
    if (!kind || key.get(3) !== kind.alg || (kind.curve !== undefined && key.get(-1) !== kind.curve))
      throw new Error('The algorithm of the key is not supported.');
    return verify(kind.digest, data, createPublicKey({ key: kind.jwk(key), format: 'jwk' }), signature);
  }`;

/** Browsers pass on this attestation even without a request, if the passkey's own key has signed it. */
const selfAttestation = `
  import { verifySignature } from '../../helpers/verifySignature.js';
  import { decodeCredentialPublicKey } from '../../helpers/decodeCredentialPublicKey.js';
  export async function verifyAttestationPacked({ attStmt, authData, clientDataHash, credentialPublicKey }) {
    if (attStmt.get('x5c') || attStmt.get('alg') !== decodeCredentialPublicKey(credentialPublicKey).get(3)) return false;
    return verifySignature({ credentialPublicKey, data: Buffer.concat([authData, clientDataHash]), signature: attStmt.get('sig') });
  }`;

const settings = 'export const SettingsService = { getRootCertificates: () => [], runtimeSupportsPQC: () => false };';

/** Returns the replacement of a file in the passkey library. The server never requests certificates of authenticators. */
function passkeyFile(path) {
  const name = basename(path, '.js');
  if (name === 'verifySignature') return signature;
  if (name === 'verifyAttestationPacked') return selfAttestation;
  if (name === 'settingsService') return settings;
  return `export const ${name} = async () => false;`;
}

/** Returns the esbuild options by package name. */
export const reducedPackages = (root) => ({
  '@simplewebauthn/server': {
    stdin: {
      contents: `
        export * from './${passkeys}/authentication/verifyAuthenticationResponse.js';
        export * from './${passkeys}/registration/verifyRegistrationResponse.js';`,
      resolveDir: root,
    },
    plugins: [
      {
        name: 'passkeys',
        setup({ onLoad }) {
          const filter = /[/\\](verifyAttestation\w+|verifySignature|settingsService|isoCrypto[/\\]verify)\.js$/;
          onLoad({ filter }, ({ path }) => ({ contents: passkeyFile(path), resolveDir: join(path, '..') }));
        },
      },
    ],
  },
});
