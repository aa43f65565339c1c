/** Codes from authenticator apps: RFC 6238 with SHA-1, 6 digits and 30-second steps (core.md 2.11). */
import { timingSafeEqual } from 'node:crypto';
import type { Context } from '../../../kernel/access/context.ts';
import { second } from '../../../kernel/clock.ts';
import { sql } from '../../../kernel/db/sql.ts';
import type { StoredInstants } from '../../../kernel/jobs/clock-watch.ts';

const digits = 6;
/** Length of a time step in microseconds. */
const step = 30 * second;
/** Tolerated clock difference between app and server, in steps. */
const tolerance = 1;
const secretBytes = 20;

/** Margin of QR codes in modules, which readers require. */
const quietZone = 4;

/** The library. It is loaded for the first code. */
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

/** Creates secrets, their codes and QR codes. */
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
 * Returns the end of the time step of a code, if the step is near `now` and does not start before `acceptedUntil`, the end of the
 * last accepted code's step. Undefined for a wrong code. All instants are in microseconds.
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

/** Checks a code against all authenticator apps of a user. Returns whether it is valid, and stores its use in the open write. */
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

/** Corrected after a clock jump: after setting the clock back, every code would be rejected until its former time. */
export const totpInstants: StoredInstants = {
  table: 'second_factor',
  column: 'accepted_until',
  ahead: (tolerance + 1) * step,
};
