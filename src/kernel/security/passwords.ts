/** Hashes of passwords. See src/decisions/login-queues.md. */
import { hash, verify } from '@node-rs/argon2';
import { HttpError } from '../http/error.ts';
import { prefixOf } from '../net/networks.ts';
import { FairQueue } from '../threads/fair-queue.ts';

declare module '../app.ts' {
  interface App {
    readonly passwords: PasswordHasher;
  }
}

const maxRunning = 4;
const maxWaiting = 64;
/** Argon2id with 19 MiB, two passes, one lane: about 15 ms of CPU time, off the main thread. */
export const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** The hash of a random password at the same cost, for comparison with users without a password. */
const decoy = '$argon2id$v=19$m=19456,t=2,p=1$ZK6VZK5i9Q4Lc2Dxi8eXng$6iIxRK5pP38K/Kj6fjI3yq6X2kQuYNMjtSMZtz1kCws';

/**
 * Hashes and checks a few passwords at a time, from a queue that is fair between the network prefixes of clients. A full queue
 * rejects with 503 (core.md 2.1 "Work"). `address` is the client's address; empty for the operator.
 */
export class PasswordHasher {
  #running = 0;
  readonly #waiting = new FairQueue(maxWaiting);

  /** Returns the salted, slow hash of a password in PHC format. Rejects with 503 if too many are waiting. */
  hash(password: string, address = ''): Promise<string> {
    return this.#queued(address, () => hash(password, cost));
  }

  /** Whether the password matches the hash. Without a hash, does the same work and returns false. */
  async matches(password: string, stored: string | null, address = ''): Promise<boolean> {
    const response = await this.#queued(address, () => verify(stored ?? decoy, password));
    return response && stored !== null;
  }

  async #queued<T>(address: string, work: () => Promise<T>): Promise<T> {
    if (this.#running < maxRunning) this.#running++;
    else
      await new Promise<void>((begin, reject) =>
        this.#waiting.add(prefixOf(address), { begin, drop: () => reject(tooManyAtOnce()) }),
      );
    try {
      return await work();
    } finally {
      const next = this.#waiting.next();
      if (next) next.begin();
      else this.#running--;
    }
  }
}

const tooManyAtOnce = (): Error =>
  new HttpError(503, { detail: 'Too many logins at once. Try again.' }, { 'Retry-After': '1' });
