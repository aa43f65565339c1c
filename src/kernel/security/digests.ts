import { createHmac, hash } from 'node:crypto';
import type { App } from '../app.ts';
import { sql } from '../db/sql.ts';

const keyBytes = 32;
/** The purpose of the sealed digest key. */
const keyPurpose = 'digest_key';

/**
 * Returns the HMAC-SHA256 of a text under the deployment's digest key: equal for equal texts and purposes, and useless to
 * an attacker with only the database. Creates a missing key, inside a write or between two.
 */
export const digestOf = (app: App, purpose: string, text: string): Buffer =>
  digestWith(storedKey(app) ?? makeKey(app), purpose, text);

/** Returns the digest; undefined if the deployment has no digest key yet, so that no stored digest can match. */
export function knownDigestOf(app: App, purpose: string, text: string): Buffer | undefined {
  const key = storedKey(app);
  return key === undefined ? undefined : digestWith(key, purpose, text);
}

const digestWith = (key: string, purpose: string, text: string): Buffer =>
  createHmac('sha256', Buffer.from(key, 'hex')).update(`${purpose}\n${text}`).digest();

/** Returns the key in hexadecimal digits. */
function storedKey({ db, secrets }: App): string | undefined {
  const sealed = db.value<Uint8Array>(sql`SELECT sealed FROM digest_key`);
  return sealed && secrets.open(sealed, keyPurpose);
}

function makeKey({ db, random, secrets }: App): string {
  const key = random(keyBytes).toString('hex');
  db.write(() => db.insert('digest_key', { id: 1, sealed: secrets.seal(key, keyPurpose) }));
  return key;
}

/*
 * Secrets in links in mails. The database contains their digests and, while the mail is pending, their encrypted text.
 */

/** Returns a new secret of 32 random hex digits. */
export const newMailedSecret = ({ random }: Pick<App, 'random'>): string => random(16).toString('hex');

/** Returns the stored form of a secret, SHA-256. The case of its digits is ignored, as in UUIDs. */
export const digestOfSecret = (secret: string): Buffer => hash('sha256', secret.toLowerCase(), 'buffer');
