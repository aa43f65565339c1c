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

  /** Whether the client is still waiting to send its body. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** Asks the client to send its body, unless it already does. */
  meet(): void {
    if (this.#isPending) this.outgoing.writeContinue();
    this.#isPending = false;
  }

  /** Discards the body: a client that waits for `100 Continue` may never send it; otherwise the rest is read and dropped. */
  reject(): void {
    if (this.#isPending) this.outgoing.shouldKeepAlive = false;
    else this.message.resume();
  }

  /** Whether the client waits to send a body whose declared length exceeds a limit. */
  exceeds(bytes: number): boolean {
    return this.#isPending && Number(this.message.headers['content-length'] ?? 0) > bytes;
  }
}
