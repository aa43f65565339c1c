/** Enrolment of passkeys (core.md 2.11). */
import type { Request } from '../../../kernel/access/request.ts';
import { describeFields, type Endpoint } from '../../../kernel/collection/endpoint.ts';
import { validate } from '../../../kernel/collection/validate.ts';
import { text } from '../../../kernel/collection/values.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { reject } from '../../../kernel/http/error.ts';
import { json, type Reply } from '../../../kernel/http/reply.ts';
import { userOf } from '../../users/users.ts';
import { addFactor, newFactorShape, ownFactors } from './enrolment.ts';
import { tooManyFactors } from './factor-store.ts';
import { type ExpectedChallenges, newChallenge, storedChallenges } from './passkey-challenges.ts';
import { creationOptions, creationOptionsShape } from './passkeys.ts';
import { requireRelyingParty } from './relying-party.ts';
import { maxNameLength } from './second-factors.ts';
import { challengeIn, type NewPasskey, newCredentialField, verifyNewPasskey } from './webauthn.ts';

/** POST /api/second-factors/passkeys/options/ (core.md 2.11) */
export const passkeyOptions: Endpoint = {
  path: '/api/second-factors/passkeys/options/',
  name: 'Second Factor Passkey Options',
  description: 'Creates a challenge for a new passkey.',
  actions: () => ({ POST: {} }),
  operations: {
    POST: {
      summary: 'Returns the options with which a browser creates a passkey for the caller.',
      allowedFor: ownFactors.allowedFor,
      output: { status: 200, shape: creationOptionsShape },
      rejections: { 400: true, 403: true, 409: true },
      unaudited: 'It stores only a challenge.',
      handle: (request) => {
        ownFactors.require(request, undefined);
        const party = requireRelyingParty(request);
        const user = userOf(request, request.caller.id);
        reject(tooManyFactors(request.db, user.id));
        return json(creationOptions(request, party, user, newChallenge(request, 'enrol')));
      },
    },
  },
};

const fields = {
  name: text({ max: maxNameLength, example: 'Laptop', help: 'Name of the factor. Default: Passkey.' }),
  credential: newCredentialField,
};

/** A new passkey with its challenge; undefined where invalid. */
interface Prepared {
  readonly challenge: string | undefined;
  readonly passkey: NewPasskey | undefined;
}

const challengesOf = (request: Request): ExpectedChallenges => storedChallenges(request, 'enrol');

async function prepare(request: Request): Promise<Prepared> {
  ownFactors.require(request, undefined);
  const { credential } = validate(fields, request, 'create');
  const party = requireRelyingParty(request);
  const challenge = challengeIn(credential);
  if (challenge === undefined || !challengesOf(request).includes(challenge)) return { challenge, passkey: undefined };
  return { challenge, passkey: await verifyNewPasskey(party, challenge, credential) };
}

const rejected = { credential: ['The passkey could not be verified.'] };

function add(request: Request, { challenge, passkey }: Prepared): Reply {
  ownFactors.require(request, undefined);
  const { caller, db } = request;
  const { name } = validate(fields, request, 'create');
  reject(tooManyFactors(db, caller.id));
  // Returned instead of thrown, so that the challenge is consumed.
  if (challenge === undefined || !challengesOf(request).take(challenge) || !passkey) return json(rejected, 400);
  if (db.value(sql`SELECT 1 FROM second_factor WHERE credential_id = ${passkey.id}`) !== undefined)
    return json(rejected, 400);
  return addFactor(request, {
    kind: 'passkey',
    name: name || 'Passkey',
    credential_id: passkey.id,
    public_key: passkey.publicKey,
    counter: passkey.counter,
    transports: passkey.transports.length > 0 ? JSON.stringify(passkey.transports) : null,
  });
}

/** POST /api/second-factors/passkeys/ (core.md 2.11) */
export const addPasskey: Endpoint = {
  path: '/api/second-factors/passkeys/',
  name: 'Second Factor Passkeys',
  description: 'Adds a passkey as a second factor of the caller.',
  actions: (request) => ({ POST: describeFields(fields, request, 'create') }),
  operations: {
    POST: {
      summary: 'Adds a passkey as a second factor, which can also log in on its own.',
      allowedFor: ownFactors.allowedFor,
      input: { fields, purpose: 'create' },
      output: { status: 201, shape: newFactorShape() },
      rejections: { 403: true, 409: true },
      prepare,
      handle: (request, prepared) => add(request, prepared as Prepared),
    },
  },
};
