/** Random choices, reproducible by seed (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: string) {
    // FNV-1a, so that similar seeds lead to different numbers.
    let hash = 0x811c9dc5;
    for (const character of seed) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
    this.#state = hash >>> 0;
  }

  /** At least 0, less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let bits = this.#state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns true with this probability. */
  happens = (probability: number): boolean => this.next() < probability;

  /** From `least` to `most`, both inclusive. */
  whole = (least: number, most: number): number => least + Math.floor(this.next() * (most - least + 1));

  /** Returns one of the items, which must not be empty. */
  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('no items to choose from');
    return items[Math.floor(this.next() * items.length)] as T;
  }

  hex = (digits: number): string => Array.from({ length: digits }, () => this.whole(0, 15).toString(16)).join('');
}
