import { createHash } from 'node:crypto';
import type { App } from '../../../kernel/app.ts';
import { VersionedCache } from '../../../kernel/cache/versioned-cache.ts';
import type { Versions } from '../../../kernel/cache/versions.ts';
import { sql } from '../../../kernel/db/sql.ts';
import type { DriverSettings, Inventory, PlainValues } from '../../catalogue/driver.ts';
import type { ValueGenerator } from '../../catalogue/simulation.ts';

/** An object at the simulated provider. */
export interface SimulatedObject {
  readonly id: number;
  readonly kind: string;
  readonly ordinal: number;
  readonly backend_id: string;
  readonly values: PlainValues;
}

/** All objects of an account, and the inventory that a synchronisation returns. */
export interface Listing {
  readonly objects: readonly SimulatedObject[];
  readonly inventory: Inventory;
}

/** Bytes of the cache of listings. */
const listingBytes = 8 * 1024 * 1024;

declare module '../../../kernel/app.ts' {
  interface App {
    readonly simulatedListings: VersionedCache<Listing>;
  }
}

/** Returns the cache of the listings of simulated accounts. */
export const newListings = (versions: Versions): VersionedCache<Listing> => new VersionedCache(versions, listingBytes);

interface Row extends Omit<SimulatedObject, 'values'> {
  readonly values: string;
}

/** The simulated provider of one settings object, stored in the database and deleted with the settings (providers.md 3.1). */
export class SimulatedBackend {
  readonly #seed: number;

  constructor(
    private readonly app: App,
    private readonly settings: DriverSettings,
  ) {
    const seed = settings.options.simulator_seed;
    this.#seed = typeof seed === 'number' ? seed : Number.parseInt(settings.uuid.slice(0, 8), 16);
  }

  /** Increments a counter. Returns its value, from 1. */
  next(name: string): number {
    const { db } = this.app;
    db.run(sql`
      INSERT INTO simulated_counter (settings_id, name, value) VALUES (${this.settings.id}, ${name}, 1)
      ON CONFLICT DO UPDATE SET value = value + 1`);
    return db.scalar<number>(
      sql`SELECT value FROM simulated_counter WHERE settings_id = ${this.settings.id} AND name = ${name}`,
    );
  }

  /** Increments each of these counters in one statement. */
  countEach(names: readonly string[]): void {
    this.app.db.run(sql`
      INSERT INTO simulated_counter (settings_id, name, value)
      SELECT ${this.settings.id}, value, 1 FROM json_each(${JSON.stringify(names)}) WHERE TRUE
      ON CONFLICT DO UPDATE SET value = simulated_counter.value + 1`);
  }

  /** The value of a counter. */
  count(name: string): number {
    return (
      this.app.db.value<number>(
        sql`SELECT value FROM simulated_counter WHERE settings_id = ${this.settings.id} AND name = ${name}`,
      ) ?? 0
    );
  }

  find(kind: string, backendId: unknown): SimulatedObject | undefined {
    const row = this.app.db.get<Row>(sql`
      SELECT * FROM simulated_object
      WHERE settings_id = ${this.settings.id} AND kind = ${kind} AND backend_id = ${String(backendId ?? '')}`);
    return row && parsed(row);
  }

  all(): SimulatedObject[] {
    return this.app.db
      .all<Row>(sql`SELECT * FROM simulated_object WHERE settings_id = ${this.settings.id} ORDER BY kind, ordinal`)
      .map(parsed);
  }

  /** Returns what `make` computes from all objects, and from nothing else: again only after an object has changed. */
  listing(make: (objects: readonly SimulatedObject[]) => Inventory): Listing {
    const { db, simulatedListings } = this.app;
    const key = String(this.settings.id);
    const known = simulatedListings.get(key);
    if (known) return known;
    const { reads, result: objects } = db.versions.observe(() => this.all());
    const inventory = make(objects);
    return simulatedListings.set(key, { objects, inventory }, reads, 2 * JSON.stringify(inventory).length);
  }

  ofKind(kind: string): SimulatedObject[] {
    return this.app.db
      .all<Row>(
        sql`SELECT * FROM simulated_object WHERE settings_id = ${this.settings.id} AND kind = ${kind} ORDER BY ordinal`,
      )
      .map(parsed);
  }

  add(kind: string, ordinal: number, backendId: string, values: PlainValues): void {
    this.app.db.insert('simulated_object', {
      settings_id: this.settings.id,
      kind,
      ordinal,
      backend_id: backendId,
      values: JSON.stringify(values),
    });
  }

  change(object: SimulatedObject, values: PlainValues): PlainValues {
    const after = { ...object.values, ...values };
    this.app.db.run(sql`UPDATE simulated_object SET "values" = ${JSON.stringify(after)} WHERE id = ${object.id}`);
    return after;
  }

  remove(object: SimulatedObject): void {
    this.app.db.run(sql`DELETE FROM simulated_object WHERE id = ${object.id}`);
  }

  /** A number from 0 to 1, derived from the seed and these words. */
  chance(...words: readonly (string | number)[]): number {
    return this.#digest(words).readUIntBE(0, 6) / 2 ** 48;
  }

  /** Generated values for the n-th object of a kind. */
  draw(kind: string, ordinal: number): ValueGenerator {
    let block = 0;
    let digits = '';
    const hex = (length: number): string => {
      while (digits.length < length) digits += this.#digest([kind, ordinal, block++]).toString('hex');
      const taken = digits.slice(0, length);
      digits = digits.slice(length);
      return taken;
    };
    return {
      hex,
      externalAddress: () => address(0xc6_12_00_00, this.next('external address'), 17),
      internalAddress: () => address(0x0a_00_00_00, this.next('internal address'), 24),
      number: (series) => this.next(series),
      next: (name) => this.next(name),
      all: (name) => this.ofKind(name),
      macAddress: () => `fa:16:3e:${hex(6).replace(/(..)(?!$)/g, '$1:')}`,
    };
  }

  #digest(words: readonly (string | number)[]): Buffer {
    return createHash('sha256')
      .update([this.#seed, ...words].join('\0'))
      .digest();
  }
}

const parsed = (row: Row): SimulatedObject => ({ ...row, values: JSON.parse(row.values) });

/** The n-th address of a network with this many host bits; wraps around. */
function address(network: number, n: number, bits: number): string {
  const value = network + (((n - 1) % (2 ** bits - 2)) + 1);
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}
