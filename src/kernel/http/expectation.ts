import type { IncomingMessage, ServerResponse } from 'node:http';

/** Whether a client waits for `100 Continue` before it sends its body (RFC 9110 10.1.1). */
export class Expectation {
  #isPending: boolean;

  constructor(
    private readonly message: IncomingMessage,
    private readonly outgoing: ServerResponse,
    isPending: boolean,
  ) {
    this.#isPending = isPending;
  }

  /** Whether the client still holds back its body. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** Asks the client to send its body, unless it already does. */
  meet(): void {
    if (this.#isPending) this.outgoing.writeContinue();
    this.#isPending = false;
  }

  /** Gives up the body: one that the client holds back may never come, of any other the rest is read and discarded. */
  reject(): void {
    if (this.#isPending) this.outgoing.shouldKeepAlive = false;
    else this.message.resume();
  }

  /** Whether the client holds back a body that is larger than this by its own word. */
  exceeds(bytes: number): boolean {
    return this.#isPending && Number(this.message.headers['content-length'] ?? 0) > bytes;
  }
}
