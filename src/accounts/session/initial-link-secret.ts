import { timingSafeEqual } from 'node:crypto';
import { minute } from '../../kernel/clock.ts';

declare module '../../kernel/app.ts' {
  interface App {
    readonly initialLink: InitialLink;
  }
}

/** How long the link works. */
const initialLinkLifetime = 30 * minute;

/** What is kept of a link that sets the first password. */
interface Kept {
  readonly digest: Buffer;
  /** The hash of the password that it is to replace: with another one the link has ended. */
  readonly passwordHash: string | null;
  readonly until: number;
}

/** The link that a start prints (core.md 2.6): in memory alone, as its digest, so that it ends with the process. */
export class InitialLink {
  #kept: Kept | undefined;

  /** Keeps the digest of a new secret, in the place of any other. */
  keep(digest: Buffer, passwordHash: string | null, now: number): void {
    this.#kept = { digest, passwordHash, until: now + initialLinkLifetime };
  }

  /** Whether the link with the secret of this digest sets the password that has this hash now. */
  fits(digest: Buffer, passwordHash: string | null, now: number): boolean {
    const kept = this.#kept;
    if (kept === undefined) return false;
    // A clock that is set back does not bring it back.
    if (now >= kept.until || kept.passwordHash !== passwordHash) this.#kept = undefined;
    return this.#kept !== undefined && timingSafeEqual(kept.digest, digest);
  }
}
