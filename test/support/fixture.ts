import { createServer, type Server, type ServerOptions } from 'tenantry';
import { raw, sql } from '../../src/kernel/db/sql.ts';
import { isMoving, type TestClock, testClock, withoutDrift } from './test-clock.ts';

/** Makes servers compare every cached value with a fresh one, and in one mode of the runner run writes twice. */
export const selfChecks = () => ({
  caches: true,
  repeatableWrites: process.env.TENANTRY_TEST_WRITES === 'twice',
  eventContexts: true,
});

/** The time at which every fixture starts. */
export const start = '2018-01-05T04:47:04Z';

export interface ApiResponse<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or undefined for an empty body. */
  readonly body: T;
}

/** Any part of a representation. Tests assert its shape. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
export type Json = any;

export interface RecordedEvent {
  readonly type: string;
  readonly level: string;
  readonly message: string;
  readonly context: Readonly<Record<string, string>>;
}

/** Reads the body of a response: parsed JSON, other text, or undefined if empty. */
async function bodyOf(response: Response, method: string): Promise<Json> {
  const { headers, status } = response;
  if (method === 'HEAD' || status === 204 || status === 304 || headers.get('content-length') === '0') return undefined;
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
  if (isJson && !isMoving()) return response.json();
  const text = withoutDrift(await response.text());
  return text === '' ? undefined : isJson ? JSON.parse(text) : text;
}

/** A caller of the API. */
export class Client {
  constructor(
    private readonly server: { readonly url: string },
    readonly token: string | undefined,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  /**
   * Sends a request. `path` starts with a slash or is a link with any base. A plain object is sent as JSON, other bodies
   * unchanged.
   */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiResponse<Json>> {
    const isPlain =
      body !== undefined && (body === null || Object.getPrototypeOf(body) === Object.prototype || Array.isArray(body));
    const response = await fetch(this.server.url + path.replace(/^https?:.*?(?=\/api\/)/, ''), {
      method,
      redirect: 'manual',
      headers: {
        ...(this.token !== undefined && { Authorization: `Token ${this.token}` }),
        ...(isPlain && { 'Content-Type': 'application/json' }),
        ...this.headers,
        ...headers,
      },
      ...(body !== undefined && { body: isPlain ? JSON.stringify(body) : (body as string) }),
    });
    // Cancel endless responses.
    const isEndless = response.headers.get('content-type') === 'text/event-stream';
    if (isEndless) await response.body?.cancel();
    const { headers: received, status } = response;
    return { status, headers: received, body: isEndless ? undefined : await bodyOf(response, method) };
  }

  get = (path: string, headers?: Readonly<Record<string, string>>): Promise<ApiResponse<Json>> =>
    this.send('GET', path, undefined, headers);
  post = (path: string, body?: unknown): Promise<ApiResponse<Json>> => this.send('POST', path, body);
  put = (path: string, body?: unknown): Promise<ApiResponse<Json>> => this.send('PUT', path, body);
  patch = (path: string, body?: unknown): Promise<ApiResponse<Json>> => this.send('PATCH', path, body);
  delete = (path: string): Promise<ApiResponse<Json>> => this.send('DELETE', path);
  options = (path: string): Promise<ApiResponse<Json>> => this.send('OPTIONS', path);
}

/** A server on an in-memory database with a settable clock, and helpers that create objects. */
export class Fixture {
  readonly anonymous = new Client(this, undefined);
  #open: { readonly server: Server; readonly clock: TestClock; readonly staff: Client } | undefined;

  static async start(options: ServerOptions = {}): Promise<Fixture> {
    const fixture = new Fixture();
    await fixture.open(options);
    return fixture;
  }

  /** Starts a server, which replaces the previous one. */
  async open(options: ServerOptions = {}, clock: TestClock = testClock(start)): Promise<void> {
    await this.close();
    const server = await createServer({
      ephemeral: true,
      port: 0,
      log_level: 'silent',
      clock,
      // As strict as a deployment: by default, servers in memory let hooks call the loopback.
      hooks_allowed_networks: [],
      ...options,
      // The checks are global to the process: set all of them, so that none keeps the value of the previous test file.
      selfChecks: { ...selfChecks(), ...options.selfChecks },
    });
    const staff = new Client(this, server.issueToken());
    this.#open = { server, clock, staff };
    this.#seen = 0;
    await staff.patch((await staff.get('/api/users/?current')).body[0].url, {
      agree_with_policy: true,
      token_lifetime: null,
    });
    const { db } = server.app;
    db.write(() => {
      for (const table of ['event', 'event_about']) db.run(raw(`DELETE FROM ${table}`));
      db.run(raw(`INSERT INTO event_words (event_words) VALUES ('delete-all')`));
    });
    db.commit();
  }

  async close(): Promise<void> {
    await this.#open?.server.close();
  }

  get server(): Server {
    return this.#opened.server;
  }

  get clock(): TestClock {
    return this.#opened.clock;
  }

  /** The staff user `admin`. */
  get staff(): Client {
    return this.#opened.staff;
  }

  get #opened() {
    if (!this.#open) throw new Error('The server of this fixture has not been started yet.');
    return this.#open;
  }

  get url(): string {
    return this.server.url;
  }

  /** Returns a client for the user with this name. */
  as(username: string): Client {
    return new Client(this, this.server.issueToken(username));
  }

  /** Creates a user (with permanent tokens by default) and returns their representation. */
  async user(username: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Json> {
    return this.#created(await this.staff.post('/api/users/', { username, token_lifetime: null, ...fields }));
  }

  /** Creates a customer and returns its representation. */
  async customer(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Json> {
    return this.#created(await this.staff.post('/api/customers/', { name, ...fields }));
  }

  /** Creates a project of a customer and returns its representation. */
  async project(
    name: string,
    customer: { url: string },
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<Json> {
    return this.#created(await this.staff.post('/api/projects/', { name, customer: customer.url, ...fields }));
  }

  /** Grants a role in a customer (owner, support) or project (admin, manager, support) and returns the permission. */
  async grant(
    scope: { url: string },
    user: { url: string },
    role: string,
    expiration_time: string | null = null,
  ): Promise<Json> {
    const structure = scope.url.includes('/api/customers/') ? 'customer' : 'project';
    return this.#created(
      await this.staff.post(`/api/${structure}-permissions/`, {
        [structure]: scope.url,
        user: user.url,
        role,
        expiration_time,
      }),
    );
  }

  /** Advances the clock by this many seconds, and waits until pending work is done. */
  async advance(seconds: number): Promise<void> {
    this.clock.advance(seconds);
    this.server.tick();
    await this.server.settled();
  }

  /** Returns the events recorded since the last call, oldest first. */
  events(): RecordedEvent[] {
    const { db } = this.server.app;
    const rows = db.all<{ type: string; level: string; message: string; context: string }>(
      sql`SELECT type, level, message, context FROM event WHERE id > ${this.#seen} ORDER BY id`,
    );
    this.#seen = db.value<number>(sql`SELECT ifnull(max(id), 0) FROM event`) as number;
    return rows.map((row) => ({ ...row, context: JSON.parse(withoutDrift(row.context)) }));
  }

  #seen = 0;

  #created(response: ApiResponse<Json>): Json {
    if (response.status !== 201)
      throw new Error(`expected 201, got ${response.status}: ${JSON.stringify(response.body)}`);
    return response.body;
  }
}

/** Returns the context of events that requests of the staff user `admin` record. */
export const byStaff = async (fixture: Fixture): Promise<Record<string, string>> => {
  const me = (await fixture.staff.get('/api/users/?current')).body[0];
  return {
    ip_address: '127.0.0.1',
    user_uuid: me.uuid,
    user_username: 'admin',
    user_full_name: me.full_name,
    user_native_name: me.native_name,
  };
};
