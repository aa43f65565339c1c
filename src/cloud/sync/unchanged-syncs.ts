import { hash } from 'node:crypto';
import { CacheBudget } from '../../kernel/cache/generational-cache.ts';
import { VersionedCache } from '../../kernel/cache/versioned-cache.ts';
import type { Basis, Versions } from '../../kernel/cache/versions.ts';
import { memoised } from '../../kernel/memoised.ts';
import type { BackendReference, Inventory } from '../catalogue/driver.ts';
import type { StoreStep } from '../operations/job-handler.ts';

declare module '../../kernel/app.ts' {
  interface App {
    readonly unchangedSyncs: UnchangedSyncs;
  }
}

const maxAccounts = 10_000;
/** Bytes of the cache of resources. */
const resourceBytes = 8 * 1024 * 1024;

/** The resources of an account: their revisions by id, and those that its provider should know. */
export interface KnownResources {
  readonly revisions: ReadonlyMap<number, number>;
  readonly known: readonly BackendReference[];
}

/** The inventory of a synchronisation that changed nothing, and the versions of the compared rows. */
interface UnchangedSync {
  readonly digest: string;
  readonly bases: readonly Basis[];
}

/** Returns a digest of everything that a provider returned. A driver may return the same object again. */
export const digestOf = memoised((inventory: Inventory): string => hash('sha256', JSON.stringify(inventory), 'base64'));

/**
 * Caches synchronisations that changed nothing. While the provider returns the same inventory and the compared rows are
 * unchanged, another comparison cannot change anything either and is skipped.
 */
export class UnchangedSyncs {
  readonly #byAccount = new CacheBudget(2 * maxAccounts).cache<number, UnchangedSync>(() => 1);

  /** The resources of accounts, read again only after one has changed. */
  readonly resources: VersionedCache<KnownResources>;

  constructor(private readonly versions: Versions) {
    this.resources = new VersionedCache(versions, resourceBytes);
  }

  /** Returns whether storing this inventory for these settings would change nothing. */
  has(settings: number, digest: string): boolean {
    const known = this.#byAccount.get(settings);
    return known?.digest === digest && known.bases.every((basis) => this.versions.isCurrent(basis));
  }

  /** Passes on steps, which return whether they compared everything. If so and nothing changed, caches the inventory. */
  *observe(settings: number, digest: string, steps: Generator<StoreStep, boolean>): Generator<StoreStep> {
    this.#byAccount.delete(settings);
    const bases: Basis[] = [];
    let isUnchanged = true;
    const observed = <T>(work: () => T): T => {
      const before = this.#activity;
      const { reads, result } = this.versions.observe(work);
      if (this.#activity !== before) isUnchanged = false;
      else if (isUnchanged) bases.push(this.versions.basis(reads));
      return result;
    };
    for (;;) {
      const { done, value } = observed(() => steps.next());
      if (done) {
        if (value && isUnchanged) this.#byAccount.set(settings, { digest, bases });
        return;
      }
      yield (context) => observed(() => value(context));
    }
  }

  /** Grows with every change and every write. A write that changed no row counts, because it may change one next time. */
  get #activity(): number {
    return this.versions.changes + this.versions.writes;
  }
}
