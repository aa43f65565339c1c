import { type RestCall, RestRefusal, RestTable, written } from '../rest.ts';
import { type Identity, type VendorAnswer, type VendorRequest, VendorServer } from '../server.ts';
import { routes } from './routes.ts';
import { type User, World } from './world.ts';

const unauthorized = (): RestRefusal => new RestRefusal(401, { message: '401 Unauthorized' });

/** A GitLab with a memory, as its public documentation describes it. What it does not know of a request it refuses. */
export class GitLab {
  readonly world: World;
  /** Objects on a page at most. */
  largestPage = 100;
  /** Calls that are still answered in this minute of the clock; undefined: any number. */
  callsPerMinute: number | undefined;
  /** Usernames by personal access tokens, and by the tokens that passwords have brought. */
  readonly tokens = new Map([['glpat-of-the-account', 'tenantry']]);
  readonly sessions = new Map<string, string>();
  readonly passwords = new Map([['tenantry', 'password-of-the-account']]);
  #server: VendorServer | undefined;
  #minute = { number: 0, calls: 0 };

  private constructor(now: () => number) {
    this.world = new World(now);
  }

  static async start(now: () => number = Date.now, identity?: Identity): Promise<GitLab> {
    const vendor = new GitLab(now);
    const table = new RestTable(
      {
        ...routes({
          world: vendor.world,
          caller: (call) => vendor.#caller(call.request),
          get url() {
            return vendor.url;
          },
          get largestPage() {
            return vendor.largestPage;
          },
        }),
      },
      '/api/v4',
    );
    const signIn = new RestTable({ 'POST /oauth/token': (call) => ({ json: vendor.#signIn(call) }) });
    const isSignIn = ({ target }: VendorRequest): boolean => target.startsWith('/oauth/');
    vendor.#server = await VendorServer.start(
      {
        route: (request) => (isSignIn(request) ? signIn : table).nameOf(request),
        answer: (request) => vendor.#answer(request, isSignIn(request) ? signIn : table, isSignIn(request)),
        headers: () => ({ Date: new Date(now()).toUTCString() }),
      },
      identity,
    );
    return vendor;
  }

  get server(): VendorServer {
    if (!this.#server) throw new Error('The stand-in has not been started.');
    return this.#server;
  }

  get url(): string {
    return this.server.url;
  }

  close = (): Promise<void> => this.server.close();

  /** An answer of refusal, as a mishap needs it. */
  static refusal = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): VendorAnswer =>
    written({ status, json: { message }, headers });

  /** The account is an administrator. */
  get account(): User {
    return [...this.world.users.values()][0] as User;
  }

  #answer(request: VendorRequest, table: RestTable, isOpen: boolean): VendorAnswer {
    this.world.advance();
    const minute = Math.floor(this.world.now() / 60_000);
    if (this.#minute.number !== minute) this.#minute = { number: minute, calls: 0 };
    if (this.callsPerMinute !== undefined && ++this.#minute.calls > this.callsPerMinute) {
      const reset = String((minute + 1) * 60);
      return {
        status: 429,
        headers: { 'Content-Type': 'text/plain', 'RateLimit-Reset': reset },
        text: 'Retry later\n',
      };
    }
    return table.answer(request, {
      before: () => void (isOpen || this.#caller(request)),
      unknown: new RestRefusal(404, { error: '404 Not Found' }),
      unreadable: new RestRefusal(400, { error: 'The provided content could not be parsed as JSON' }),
    });
  }

  #caller({ headers }: VendorRequest): User {
    const personal = headers['private-token'];
    const [, bearer = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
    const name =
      typeof personal === 'string' ? this.tokens.get(personal) : (this.sessions.get(bearer) ?? this.tokens.get(bearer));
    const user = [...this.world.users.values()].find(({ username }) => username === name);
    if (!user) throw unauthorized();
    return user;
  }

  #signIn({ json: { grant_type: type, password, username } }: RestCall): object {
    if (type !== 'password')
      throw new RestRefusal(400, {
        error: 'unsupported_grant_type',
        error_description: 'The authorization grant type is not supported by the authorization server.',
      });
    if (password === undefined || this.passwords.get(username) !== password)
      throw new RestRefusal(401, {
        error: 'invalid_grant',
        error_description:
          'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
      });
    const token = `session-${this.sessions.size + 1}`;
    this.sessions.set(token, username);
    return { access_token: token, token_type: 'Bearer', expires_in: 7200, scope: 'api' };
  }
}
