import { timingSafeEqual } from 'node:crypto';
import { minute } from '../../kernel/clock.ts';

declare module '../../kernel/app.ts' {
  interface App {
    readonly initialLink: InitialLink;
  }
}

/** Lifetime of the link. */
const initialLinkLifetime = 30 * minute;

/** The state of a link that sets the first password. */
interface LinkState {
  readonly digest: Buffer;
  /** Hash of the password to replace. If the password changes, the link becomes invalid. */
  readonly passwordHash: string | null;
  readonly expires: number;
}

/** The link that the server prints at start (core.md 2.6). Only its digest is stored, in memory, so it ends with the process. */
export class InitialLink {
  #link: LinkState | undefined;

  /** Stores the digest of a new secret and replaces the previous link. */
  store(digest: Buffer, passwordHash: string | null, now: number): void {
    this.#link = { digest, passwordHash, expires: now + initialLinkLifetime };
  }

  /** Whether the digest belongs to the valid link, and the current password has this hash. */
  matches(digest: Buffer, passwordHash: string | null, now: number): boolean {
    const link = this.#link;
    if (link === undefined) return false;
    // Delete it, so that setting the clock back does not make it valid again.
    if (now >= link.expires || link.passwordHash !== passwordHash) this.#link = undefined;
    return this.#link !== undefined && timingSafeEqual(link.digest, digest);
  }
}
