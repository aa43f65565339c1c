import * as assert from 'uvu/assert';
import type { Json } from '../support/fixture.ts';

/** Milliseconds between two requests, and the maximum in total. */
const period = 200;
const timeout = 180_000;

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Repeats a request until it has a result. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const end = performance.now() + timeout;
  for (;;) {
    const reply = await ask();
    if (reply !== undefined) return reply;
    if (performance.now() > end) throw new Error(`${what}: not within ${timeout / 1000} seconds`);
    await pause(period);
  }
}

/** A client of the API of a running server. */
export class Caller {
  constructor(
    readonly url: string,
    private readonly token: string,
  ) {}

  async send(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: Json }> {
    const response = await fetch(path.startsWith('http') ? path : this.url + path, {
      method,
      headers: { Authorization: `Token ${this.token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** Sends a request. Throws unless the response has this status. */
  async ask(status: number, method: string, path: string, body?: unknown): Promise<Json> {
    const reply = await this.send(method, path, body);
    assert.is(reply.status, status, `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  }

  get = (path: string): Promise<Json> => this.ask(200, 'GET', path);
  post = (path: string, body?: unknown, status = 201): Promise<Json> => this.ask(status, 'POST', path, body);

  /** Returns the only object of a list, which must have exactly one. */
  async only(path: string): Promise<Json> {
    const matches = await this.get(path);
    assert.is(matches.length, 1, `${path}: ${JSON.stringify(matches)}`);
    return matches[0];
  }

  /** Returns an object after its operation, which must have succeeded. */
  async settled({ url }: Json): Promise<Json> {
    return until(url, async () => {
      const object = await this.get(url);
      if (object.state === 'Erred') throw new Error(`${object.name}: ${object.error_message}`);
      return object.state === 'OK' ? object : undefined;
    });
  }

  /** Creates an object and waits until it is ready. */
  make = async (path: string, body?: unknown): Promise<Json> => this.settled(await this.post(path, body));

  /** Runs an action, which is a POST with status 202, and waits for its end. */
  async act(object: Json, action: string, body?: unknown): Promise<Json> {
    await this.post(`${object.url}${action}/`, body, 202);
    return this.settled(object);
  }

  /** Deletes an object and waits until it is gone. */
  async remove({ url }: Json, flags = ''): Promise<void> {
    await this.ask(202, 'DELETE', `${url}${flags}`);
    await until(url, async () => {
      const { body, status } = await this.send('GET', url);
      if (body?.state === 'Erred') throw new Error(body.error_message);
      return status === 404 || undefined;
    });
  }
}
