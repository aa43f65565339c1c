/** Enrolment of authenticator apps, and new recovery codes (core.md 2.11). */
import type { Request } from '../../../kernel/access/request.ts';
import { authenticated } from '../../../kernel/access/right.ts';
import { newUuid } from '../../../kernel/app.ts';
import { minute } from '../../../kernel/clock.ts';
import { describeFields, type Endpoint, type Operation } from '../../../kernel/collection/endpoint.ts';
import { objectShape, secretField } from '../../../kernel/collection/field.ts';
import type { JsonSchema } from '../../../kernel/collection/json-schema.ts';
import { validate } from '../../../kernel/collection/validate.ts';
import { text } from '../../../kernel/collection/values.ts';
import { sql, type Value } from '../../../kernel/db/sql.ts';
import { conflict, forbidden, invalid, reject } from '../../../kernel/http/error.ts';
import { isReading } from '../../../kernel/http/incoming-request.ts';
import { created, json, type Reply } from '../../../kernel/http/reply.ts';
import { expiringRows } from '../../../kernel/security/expiring-rows.ts';
import { notifySecurity } from '../../users/notices.ts';
import { userOf } from '../../users/users.ts';
import { confirmed } from '../confirmation.ts';
import { hasFactor, tooManyFactors } from './factor-store.ts';
import { replaceRecoveryCodes } from './recovery-codes.ts';
import { maxNameLength, secondFactors } from './second-factors.ts';
import { acceptedStep, loadTotp, type TotpMaker } from './totp.ts';

/** How long a new secret may wait for its first code. */
const enrolmentLifetime = 10 * minute;

/** The right to add factors. */
export const ownFactors = confirmed(authenticated.as('any user, for themselves'));

const textShape: JsonSchema = { type: 'string' };
const recoveryCodesShape: JsonSchema = {
  type: 'array',
  items: { type: 'string', pattern: '^[a-z2-7]{5}-[a-z2-7]{5}$' },
};

/** Stores a factor of the caller and queues the mail. Responds with 201, and with recovery codes for the first factor. */
export function addFactor(request: Request, columns: Readonly<Record<string, Value>>): Reply {
  const { app, caller, db, now } = request;
  const isFirst = !hasFactor(db, caller.id);
  const id = db.insert('second_factor', { uuid: newUuid(app), user_id: caller.id, created: now, ...columns });
  notifySecurity(request, userOf(request, caller.id), 'second_factor_added');
  const text = secondFactors.represent(request, id);
  const url = secondFactors.urlOf(request, id);
  if (!isFirst) return created(text, url);
  return created(
    JSON.stringify({ ...JSON.parse(text), recovery_codes: replaceRecoveryCodes(request, caller.id) }),
    url,
  );
}

/** The response to a new factor. */
export const newFactorShape = (): JsonSchema => ({
  ...secondFactors.shape,
  title: 'NewSecondFactor',
  properties: {
    ...(secondFactors.shape.properties as Readonly<Record<string, JsonSchema>>),
    recovery_codes: { ...recoveryCodesShape, description: 'Only for the first factor of the user.' },
  },
});

function begin(request: Request, maker: TotpMaker): Reply {
  ownFactors.require(request, undefined);
  const { app, caller, config, db, now } = request;
  reject(tooManyFactors(db, caller.id));
  const totp = maker.create(app.random);
  const uuid = newUuid(app);
  db.run(sql`DELETE FROM totp_enrolment WHERE user_id = ${caller.id}`);
  db.insert('totp_enrolment', {
    uuid,
    user_id: caller.id,
    secret: app.secrets.seal(totp.secret, uuid),
    expires: now + enrolmentLifetime,
  });
  const uri = totp.uri(config.product_name, caller.username);
  return json({ secret: totp.secret, uri, qr_svg: maker.qrCode(uri) });
}

/** POST /api/second-factors/totp/ (core.md 2.11) */
export const beginTotp: Endpoint = {
  path: '/api/second-factors/totp/',
  name: 'Second Factor Totp',
  description: 'Creates a secret for an authenticator app.',
  actions: () => ({ POST: {} }),
  operations: {
    POST: {
      summary: 'Returns a new secret for an authenticator app, with its QR code.',
      allowedFor: ownFactors.allowedFor,
      output: { status: 200, shape: objectShape({ secret: textShape, uri: textShape, qr_svg: textShape }) },
      rejections: { 403: true, 409: true },
      prepare: loadTotp,
      handle: (request, maker) => begin(request, maker as TotpMaker),
    },
  },
};

const confirmFields = {
  code: secretField(
    text({ max: 40, required: true, example: '123456', help: 'The code that the app shows for the secret.' }),
  ),
  name: text({ max: maxNameLength, example: 'Phone', help: 'Name of the factor. Default: Authenticator app.' }),
};

function confirm(request: Request, maker: TotpMaker): Reply {
  ownFactors.require(request, undefined);
  const { app, caller, db, now } = request;
  const { code, name = '' } = validate(confirmFields, request, 'create');
  const enrolment = db.get<{ id: number; uuid: string; secret: Uint8Array }>(
    sql`SELECT id, uuid, secret FROM totp_enrolment WHERE user_id = ${caller.id} AND expires > ${now}`,
  );
  if (!enrolment) throw conflict('There is no secret to confirm: start again.');
  reject(tooManyFactors(db, caller.id));
  const secret = app.secrets.open(enrolment.secret, enrolment.uuid);
  const acceptedUntil = acceptedStep(maker.of(secret), code, now, 0);
  if (acceptedUntil === undefined) throw invalid({ code: ['Wrong code.'] });
  db.run(sql`DELETE FROM totp_enrolment WHERE id = ${enrolment.id}`);
  const uuid = newUuid(app);
  return addFactor(request, {
    uuid,
    kind: 'totp',
    name: name || 'Authenticator app',
    secret: app.secrets.seal(secret, uuid),
    accepted_until: acceptedUntil,
  });
}

const confirmOperation = (): Operation => ({
  summary: 'Adds the authenticator app as a second factor, with a code that it shows.',
  allowedFor: ownFactors.allowedFor,
  input: { fields: confirmFields, purpose: 'create' },
  output: { status: 201, shape: newFactorShape() },
  rejections: { 403: true, 409: true },
  prepare: loadTotp,
  handle: (request, maker) => confirm(request, maker as TotpMaker),
});

/** POST /api/second-factors/totp/confirm/ (core.md 2.11) */
export const confirmTotp: Endpoint = {
  path: '/api/second-factors/totp/confirm/',
  name: 'Second Factor Totp Confirm',
  description: 'Adds the authenticator app as a second factor of the caller.',
  actions: (request) => ({ POST: describeFields(confirmFields, request, 'create') }),
  operations: { POST: confirmOperation() },
};

/** POST /api/second-factors/recovery-codes/ (core.md 2.11) */
export const newRecoveryCodes: Endpoint = {
  path: '/api/second-factors/recovery-codes/',
  name: 'Second Factor Recovery Codes',
  description: 'Replaces the recovery codes of the caller.',
  actions: () => ({ POST: {} }),
  operations: {
    POST: {
      summary: 'Replaces the recovery codes and returns the new ones.',
      allowedFor: ownFactors.allowedFor,
      output: { status: 200, shape: objectShape({ recovery_codes: recoveryCodesShape }) },
      rejections: { 403: true, 409: true },
      handle: (request) => {
        ownFactors.require(request, undefined);
        const { caller, db } = request;
        if (!hasFactor(db, caller.id)) throw conflict(enrolmentText);
        notifySecurity(request, userOf(request, caller.id), 'recovery_codes_replaced');
        return json({ recovery_codes: replaceRecoveryCodes(request, caller.id) });
      },
    },
  },
};

export const expiringEnrolments = expiringRows('totp_enrolment', enrolmentLifetime);

/* Enforces second_factor_required: limits a session until its user has a second factor (core.md 2.11). */

/** Also shown to staff who need a factor themselves to change the factors of other users. */
export const enrolmentText = 'Set up a second factor first.';

/** Whether an operation is part of the enrolment: reading one's user, confirming the session, adding a factor, logging out. */
function isOpenBeforeEnrolment({ caller, incoming, params, query }: Request, path: string): boolean {
  if (path.startsWith('/api/second-factors/') || path.startsWith('/api/sessions/confirm/')) return true;
  if (path === '/api-auth/logout/') return true;
  if (!isReading(incoming.method)) return false;
  if (path === '/api/users/') return query.flag('current');
  return path === '/api/users/:key/' && params.key?.toLowerCase() === caller.uuid;
}

/** Throws 403 if the session must first set up a second factor and the operation is not part of that. */
export function requireEnrolment(request: Request, { path }: Pick<Endpoint, 'path'>): void {
  if (request.caller.mustEnrol && !isOpenBeforeEnrolment(request, path)) throw forbidden(enrolmentText);
}
