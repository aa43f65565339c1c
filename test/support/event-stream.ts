import type { Client, Fixture, Json } from './fixture.ts';
import { withoutDrift } from './test-clock.ts';

/** One block of a stream: its fields, or a comment. */
export interface Frame {
  readonly id?: string;
  readonly event?: string;
  readonly retry?: string;
  readonly data?: Json;
  readonly comment?: true;
}

/** A client of an event stream that reads frames on request. */
export class EventReader {
  readonly #body: ReadableStreamDefaultReader<Uint8Array>;
  readonly #leaving: AbortController;
  #text = '';

  private constructor(
    readonly response: Response,
    leaving: AbortController,
  ) {
    if (!response.body) throw new Error('a response without a body');
    this.#body = response.body.getReader();
    this.#leaving = leaving;
  }

  /** Opens a stream; `lastId` is sent as Last-Event-ID. */
  static async open(fixture: Pick<Fixture, 'url'>, client: Client, query = '', lastId?: string): Promise<EventReader> {
    const leaving = new AbortController();
    const response = await fetch(`${fixture.url}/api/events/stream/${query}`, {
      signal: leaving.signal,
      headers: {
        ...client.headers,
        Authorization: `Token ${client.token}`,
        ...(lastId !== undefined && { 'Last-Event-ID': lastId }),
      },
    });
    return new EventReader(response, leaving);
  }

  /** Returns the next frame; undefined after the server has ended the stream. */
  async frame(): Promise<Frame | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return frameOf(block);
      }
      const { done, value } = await this.#body.read();
      if (done) return undefined;
      this.#text += new TextDecoder().decode(value);
    }
  }

  /** Returns the next event; skips comments. */
  async event(): Promise<Json> {
    for (let frame = await this.frame(); frame; frame = await this.frame()) if (frame.data) return frame;
    return undefined;
  }

  /** Returns the messages of the next events. */
  async messages(count: number): Promise<string[]> {
    const messages: string[] = [];
    while (messages.length < count) messages.push((await this.event()).data.message);
    return messages;
  }

  leave(): void {
    this.#leaving.abort();
  }
}

function frameOf(block: string): Frame {
  if (block.startsWith(':')) return { comment: true };
  const fields = block.split('\n').map((line): [string, string] => {
    const [name = ''] = line.split(': ', 1);
    return [name, line.slice(name.length + 2)];
  });
  const frame = Object.fromEntries(fields);
  return { ...frame, ...(frame.data !== undefined && { data: JSON.parse(withoutDrift(frame.data)) }) };
}
