import type { Request } from '../../kernel/access/request.ts';
import { hour } from '../../kernel/clock.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { messageShape } from '../../kernel/collection/field.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { email, text } from '../../kernel/collection/values.ts';
import { notFound, tooMany } from '../../kernel/http/error.ts';
import { json, type Reply } from '../../kernel/http/reply.ts';
import { prefixOf } from '../../kernel/net/networks.ts';
import { RateLimit } from '../../kernel/security/rate-limit.ts';
import { changePassword } from '../users/actions.ts';
import { verifyEmail } from '../users/email.ts';
import { passwordField, rejectWeak } from '../users/passwords.ts';
import { actedBy, type UserRow } from '../users/users.ts';
import { loginAfterPassword, newPasswordShape } from './login-steps.ts';
import { queueResetLink, userOfSecret } from './password-resets.ts';

declare module '../../kernel/security/rate-limit.ts' {
  interface RateLimits {
    readonly passwordResets: RateLimit;
  }
}

/** Limits requests for reset links by network. */
export const newPasswordResetLimit = (): RateLimit => new RateLimit(20, hour);

/** Throws 404 unless password_reset_url is set and users can log in with passwords. */
function requireEnabled({ config }: Request): void {
  const { authentication_methods: methods, password_reset_url: page } = config;
  if (page === null || !methods.includes('LOCAL_SIGNIN')) throw notFound();
}

const address = { email: email({ required: true, example: 'alice@example.com' }) };

/** POST /api-auth/password/forgot/ (core.md 2.5) */
export const forgotPassword: Endpoint = {
  path: '/api-auth/password/forgot/',
  name: 'Forgotten Password',
  description: 'Mails a link that sets a new password.',
  open: true,
  actions: (request) => {
    requireEnabled(request);
    return { POST: describeFields(address, request, 'create') };
  },
  operations: {
    POST: {
      summary: 'Mails a link that sets a new password, if a user has the address.',
      allowedFor: 'Any caller, with the setting password_reset_url.',
      input: { fields: address, purpose: 'create' },
      output: { status: 202, shape: messageShape },
      rejections: { 404: true, 429: true },
      // The limit counts the calls.
      isHandledOnce: true,
      handle: (request) => {
        requireEnabled(request);
        const { email: to } = validate(address, request, 'create');
        const wait = request.app.limits.passwordResets.denial(prefixOf(request.address), request.now);
        if (wait !== undefined) throw tooMany('Too many requests. Try again later.', wait);
        queueResetLink(request, to);
        return json({ detail: 'If the address is known, a link has been sent.' }, 202);
      },
    },
  },
};

const exampleSecret = '5d41402abc4b2a76b9719d911017c592';

const secretField = {
  secret: text({ max: 255, required: true, example: exampleSecret, help: 'The secret in the link of the mail.' }),
};
const passwordFields = { password: passwordField };
const fields = { ...secretField, ...passwordFields };

/** A valid request to reset a password. */
interface Reset {
  readonly user: UserRow;
  readonly password: string;
}

/** Validates the body. Reports an unknown secret before errors in the password. Throws 404, 400. */
function acceptReset(request: Request): Reset {
  requireEnabled(request);
  const { secret } = request.body().values;
  if (typeof secret !== 'string' || secret === '') validate(fields, request, 'create');
  const user = userOfSecret(request, validate(secretField, request, 'create').secret);
  if (!user) throw notFound();
  const { password } = validate(passwordFields, request, 'create');
  rejectWeak(request.config, password, user);
  return { user, password };
}

function reset(request: Request, hash: string): Reply {
  // Check again: another request may have used the secret.
  const { user } = acceptReset(request);
  const own = actedBy(request, user);
  verifyEmail(request, user.id);
  changePassword(own, { ...user, email_verified: 1 }, hash);
  return json(loginAfterPassword(request, user));
}

/** POST /api-auth/password/reset/ (core.md 2.5) */
export const resetPassword: Endpoint = {
  path: '/api-auth/password/reset/',
  name: 'Password Reset',
  description: 'Sets a new password with the secret of a mailed link.',
  open: true,
  actions: (request) => {
    requireEnabled(request);
    return { POST: describeFields(fields, request, 'create') };
  },
  operations: {
    POST: {
      summary:
        'Sets a new password, revokes all tokens of the user and returns a new one, or requires the second factor.',
      allowedFor: 'Any caller who knows the secret of the mail, with the setting password_reset_url.',
      input: { fields, purpose: 'create' },
      output: { status: 200, shape: newPasswordShape },
      rejections: { 404: true, 503: true },
      prepare: async (request) => request.app.passwords.hash(acceptReset(request).password, request.address),
      handle: (request, hash) => reset(request, String(hash)),
    },
  },
};
