import { hash } from 'node:crypto';
import type { App } from '../app.ts';

/*
 * Secrets that are handed out in the link of a mail. The database holds their digest, and, while the mail waits to be sent,
 * their encrypted text.
 */

/** A new secret: 32 hex digits, all of them random. */
export const newMailedSecret = ({ random }: Pick<App, 'random'>): string => random(16).toString('hex');

/** The stored form of a secret, SHA-256; the case of its digits does not count, as in UUIDs. */
export const digestOfSecret = (secret: string): Buffer => hash('sha256', secret.toLowerCase(), 'buffer');
