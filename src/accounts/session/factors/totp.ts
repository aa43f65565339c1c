/** Codes of authenticator apps: RFC 6238 with SHA-1, 6 digits and steps of 30 seconds (core.md 2.11). */
import { timingSafeEqual } from 'node:crypto';
import type { Context } from '../../../kernel/access/context.ts';
import { second } from '../../../kernel/clock.ts';
import { sql } from '../../../kernel/db/sql.ts';
import type { StoredInstants } from '../../../kernel/stored-instants.ts';

const digits = 6;
/** Microseconds of a time step. */
const step = 30 * second;
/** The number of steps by which the clocks of the app and the server may differ. */
const tolerance = 1;
const secretBytes = 20;

/** Margin of QR codes in modules, as readers require it. */
const quietZone = 4;

/** The library, which is loaded when the first code is used. */
type Library = typeof import('otpauth');

/** Creates the codes of a secret. */
interface Totp {
  /** The secret as base32. */
  readonly secret: string;
  /** Returns the `otpauth:` URI of the secret for authenticator apps. */
  uri(issuer: string, username: string): string;
  /** Returns the code of the time step that contains this instant. */
  codeAt(instant: number): string;
}

/** Makes codes from secrets in base32, new secrets and QR codes. */
export interface TotpMaker {
  of(secret: string): Totp;
  create(random: (bytes: number) => Buffer): Totp;
  /** Returns the QR code of a URI as SVG. */
  qrCode(uri: string): string;
}

/** Loads the libraries. */
export async function loadTotp(): Promise<TotpMaker> {
  const [library, { renderSVG }] = [await import('otpauth'), await import('uqr')];
  const of = (secret: string): Totp => totpOf(library, library.Secret.fromBase32(secret));
  return {
    of,
    create: (random) => {
      const bytes = random(secretBytes);
      return totpOf(library, new library.Secret({ buffer: new Uint8Array(bytes).buffer }));
    },
    qrCode: (uri) => renderSVG(uri, { border: quietZone }),
  };
}

function totpOf({ TOTP }: Library, secret: InstanceType<Library['Secret']>): Totp {
  const options = { secret, algorithm: 'SHA1', digits, period: step / second };
  return {
    secret: secret.base32,
    uri: (issuer, label) => new TOTP({ ...options, issuer, label }).toString(),
    codeAt: (instant) => TOTP.generate({ ...options, timestamp: instant / 1000 }),
  };
}

/**
 * Returns the end of the time step that a code belongs to, if the step is near `now` and does not begin before `acceptedUntil`,
 * the end of the step of the last accepted code. Undefined for a wrong code. All instants are in microseconds.
 */
export function acceptedStep(totp: Totp, code: string, now: number, acceptedUntil: number): number | undefined {
  const presented = Buffer.from(code.replaceAll(/\s/g, ''));
  const current = now - (now % step);
  for (let distance = -tolerance; distance <= tolerance; distance++) {
    const begin = current + distance * step;
    if (begin < Math.max(acceptedUntil, 0)) continue;
    const valid = Buffer.from(totp.codeAt(begin));
    if (presented.length === valid.length && timingSafeEqual(presented, valid)) return begin + step;
  }
  return undefined;
}

/** Accepts a code for any authenticator app of a user, and stores its use. Returns whether it was valid. Must run inside a write. */
export function useTotp({ app, now }: Context, user: number, code: string, maker: TotpMaker): boolean {
  const { db, secrets } = app;
  const factors = db.all<{ id: number; uuid: string; secret: Uint8Array; accepted_until: number }>(
    sql`SELECT id, uuid, secret, accepted_until FROM second_factor WHERE user_id = ${user} AND kind = 'totp'`,
  );
  for (const { accepted_until: last, id, secret, uuid } of factors) {
    const until = acceptedStep(maker.of(secrets.open(secret, uuid)), code, now, last);
    if (until === undefined) continue;
    db.update('second_factor', id, { accepted_until: until, last_used: now });
    return true;
  }
  return false;
}

/** A clock that is set back must not reject every code until it reaches its former time. */
export const totpInstants: StoredInstants = {
  table: 'second_factor',
  column: 'accepted_until',
  ahead: (tolerance + 1) * step,
};
