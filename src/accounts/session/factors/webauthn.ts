/** Verifies passkeys: WebAuthn level 2, in the JSON formats of level 3 (core.md 2.11). */
import * as v from 'valibot';
import {
  FieldError,
  inputOf,
  jsonOrText,
  objectShape,
  secretField,
  type WritableField,
} from '../../../kernel/collection/field.ts';
import type { JsonSchema } from '../../../kernel/collection/json-schema.ts';
import { kindName } from '../../../kernel/http/body.ts';
import type { RelyingParty } from './relying-party.ts';

/** COSE numbers of the accepted algorithms: ES256, EdDSA, RS256. */
export const algorithms = [-7, -8, -257];

/** The largest keys in use, 2048-bit RSA, have about 300 bytes. */
const maxKeyBytes = 1024;

/** An unchecked credential from a body. */
export type Credential = Readonly<Record<string, unknown>>;

const base64url = (max: number) => v.pipe(v.string(), v.maxLength(max), v.regex(/^[\w-]+$/));

const common = {
  /** Level 2 allows 1,023 bytes. */
  id: base64url(1364),
  rawId: base64url(1364),
  type: v.literal('public-key'),
};

const registrationSchema = v.object({
  ...common,
  response: v.object({
    clientDataJSON: base64url(8192),
    attestationObject: base64url(32_768),
    transports: v.optional(v.pipe(v.array(v.pipe(v.string(), v.regex(/^[a-z-]{1,20}$/))), v.maxLength(10))),
  }),
});

const assertionSchema = v.object({
  ...common,
  response: v.object({
    clientDataJSON: base64url(8192),
    authenticatorData: base64url(8192),
    signature: base64url(2048),
    userHandle: v.nullish(base64url(100)),
  }),
});

/** Returns the members of an assertion; undefined if it is malformed. */
export const assertionOf = (credential: Credential): v.InferOutput<typeof assertionSchema> | undefined => {
  const { output, success } = v.safeParse(assertionSchema, credential);
  return success ? output : undefined;
};

const exampleId = 'AWhIvXoY1u8Zq3mC7cVJQw';

/** Returns the JSON Schema of a credential with these members of `response` and their examples. Clients may send others. */
function credentialShape(members: Readonly<Record<string, string>>): JsonSchema {
  const shapes = Object.keys(members).map((name) => [name, { type: 'string' }]);
  return {
    ...objectShape({
      id: { type: 'string' },
      rawId: { type: 'string' },
      type: { const: 'public-key' },
      response: objectShape(Object.fromEntries(shapes)),
    }),
    examples: [{ id: exampleId, rawId: exampleId, type: 'public-key', response: members }],
  };
}

const isObject = (value: unknown): value is Credential =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function credentialField(help: string, shape: JsonSchema): WritableField<Credential, true> {
  return secretField({
    type: 'nested object',
    help,
    constraints: {},
    shape,
    input: inputOf<Credential, v.GenericSchema<unknown, unknown>, { readonly required: true }>(
      { required: true },
      {
        schema: v.unknown(),
        shape,
        // Forms contain only strings.
        coerce: (value, form) => (form && typeof value === 'string' ? jsonOrText(value) : value),
        resolve: (value) => {
          if (isObject(value)) return value;
          throw new FieldError([`Invalid data. Expected a dictionary, but got ${kindName(value)}.`]);
        },
      },
    ),
  });
}

/** A new credential, as `PublicKeyCredential.toJSON()` returns it. */
export const newCredentialField = credentialField(
  'The new credential, as navigator.credentials.create() returns it, in its JSON form.',
  credentialShape({
    clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
    attestationObject: 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YUEA',
  }),
);

/** A used credential, as `PublicKeyCredential.toJSON()` returns it. */
export const usedCredentialField = credentialField(
  'The credential, as navigator.credentials.get() returns it, in its JSON form.',
  credentialShape({
    clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
    authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
    signature: 'MEUCIQDz',
  }),
);

/** Returns the challenge in a credential; undefined if it is malformed. */
export function challengeIn({ response }: Credential): string | undefined {
  const encoded = isObject(response) ? response.clientDataJSON : undefined;
  if (typeof encoded !== 'string') return undefined;
  const data = jsonOrText(Buffer.from(encoded, 'base64url').toString());
  // Reject pages of the service that are embedded in another origin.
  if (!isObject(data) || data.crossOrigin === true) return undefined;
  return typeof data.challenge === 'string' ? data.challenge : undefined;
}

/** A verified new credential. */
export interface NewPasskey {
  readonly id: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
}

/** Verifies a new credential. Returns undefined if it is invalid. */
export async function verifyNewPasskey(
  { id, origins }: RelyingParty,
  challenge: string,
  credential: Credential,
): Promise<NewPasskey | undefined> {
  const parsed = v.safeParse(registrationSchema, credential);
  if (!parsed.success) return undefined;
  const { response, ...members } = parsed.output;
  const { transports = [], ...fields } = response;
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...members, response: fields, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: [...origins],
      expectedRPID: id,
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
    });
    if (!registrationInfo) return undefined;
    const { counter, id: credentialId, publicKey } = registrationInfo.credential;
    if (credentialId !== members.id || publicKey.length > maxKeyBytes) return undefined;
    return { id: credentialId, publicKey, counter, transports };
  } catch {
    // The library throws for every kind of error, including wrong types.
    return undefined;
  }
}

/**
 * Verifies the use of a credential, except its counter. Returns the counter, or undefined if the credential is invalid. `isAlone`
 * means that it is the only factor, so the authenticator must have verified the user.
 */
export async function verifyAssertion(
  { id, origins }: RelyingParty,
  challenge: string,
  credential: Credential,
  publicKey: Uint8Array,
  isAlone: boolean,
): Promise<number | undefined> {
  const assertion = assertionOf(credential);
  if (!assertion) return undefined;
  const { userHandle: _, ...response } = assertion.response;
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  try {
    const { authenticationInfo, verified } = await verifyAuthenticationResponse({
      response: { ...assertion, response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: [...origins],
      expectedRPID: id,
      credential: { id: assertion.id, publicKey: new Uint8Array(publicKey), counter: 0 },
      requireUserVerification: isAlone,
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}
