import type { IncomingMessage, ServerResponse } from 'node:http';

/*
 * Bodies while they arrive: the memory they use, in total and for each caller (core.md 1.1 "Memory").
 */

/** Bytes of a body that are not counted: ordinary requests never wait for memory. */
const freeBytes = 8 * 1024;

/** The memory that unfinished bodies share. One holder (a user, or a network prefix) gets at most half of it. */
export class UploadBudget {
  readonly #held = new Map<string, number>();
  #total = 0;

  /** `bytes` is the limit of all holders together. */
  constructor(private readonly bytes: number) {}

  /** Reserves bytes for a holder; returns whether the budget allows it. */
  take(holder: string, bytes: number): boolean {
    const heldBytes = (this.#held.get(holder) ?? 0) + bytes;
    if (this.#total + bytes > this.bytes || heldBytes > this.bytes / 2) return false;
    this.#held.set(holder, heldBytes);
    this.#total += bytes;
    return true;
  }

  /** Releases reserved bytes. */
  give(holder: string, bytes: number): void {
    const heldBytes = (this.#held.get(holder) ?? 0) - bytes;
    if (heldBytes > 0) this.#held.set(holder, heldBytes);
    else this.#held.delete(holder);
    this.#total -= bytes;
  }
}

/** The outcome of received bytes. */
type Arrival = 'complete' | 'too large' | 'no room';

const nothing = Buffer.alloc(0);

/** A body while it arrives. Its bytes are in one buffer, because thousands of small chunks would cost far more memory. */
export class Upload {
  #content: Buffer = nothing;
  #length = 0;
  #taken = 0;

  /** Accepts at most `limit` bytes, on the account of `holder`. */
  constructor(
    private readonly budget: UploadBudget,
    private readonly holder: string,
    private readonly limit: number,
  ) {}

  /** Stores a chunk. A body that is too large or exceeds the budget is dropped, with all earlier chunks. */
  add(chunk: Buffer): Arrival {
    const length = this.#length + chunk.length;
    if (length > this.limit) return this.#reject('too large');
    const counted = Math.max(0, length - freeBytes) - this.#taken;
    if (counted > 0) {
      if (!this.budget.take(this.holder, counted)) return this.#reject('no room');
      this.#taken += counted;
    }
    if (this.#length === 0) this.#content = chunk;
    else {
      this.#reserve(length);
      chunk.copy(this.#content, this.#length);
    }
    this.#length = length;
    return 'complete';
  }

  /**
   * Reads the body of a request; null if it is too large, undefined if there is no memory for it. The rest of such bodies is read
   * and dropped.
   */
  collect(
    { message, outgoing }: { readonly message: IncomingMessage; readonly outgoing: ServerResponse },
    use: (content: Buffer | null | undefined) => void,
  ): void {
    let state: Arrival = 'complete';
    message.on('data', (chunk: Buffer) => {
      if (state !== 'complete') return;
      state = this.add(chunk);
      if (state === 'no room') use(undefined);
    });
    message.on('end', () => {
      const { content } = this;
      this.release();
      if (state !== 'no room') use(state === 'complete' ? content : null);
    });
    outgoing.on('close', () => this.release());
    // A client that disconnects while it sends is not a fault: no response is possible.
    message.on('error', () => undefined);
  }

  /** The received bytes. */
  get content(): Buffer {
    return this.#content.subarray(0, this.#length);
  }

  /** Releases the bytes of the body. */
  release(): void {
    if (this.#taken > 0) this.budget.give(this.holder, this.#taken);
    this.#taken = 0;
    this.#length = 0;
    this.#content = nothing;
  }

  #reject(reason: Arrival): Arrival {
    this.release();
    return reason;
  }

  #reserve(length: number): void {
    if (length <= this.#content.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(this.limit, Math.max(2 * length, 1024)));
    this.#content.copy(larger, 0, 0, this.#length);
    this.#content = larger;
  }
}
