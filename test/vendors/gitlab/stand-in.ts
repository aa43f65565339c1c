import { type RestCall, RestRejection, RestTable, toResponse } from '../rest.ts';
import type { Identity, VendorRequest, VendorResponse } from '../server.ts';
import { StandIn } from '../stand-in.ts';
import { routes } from './routes.ts';
import { Setup, type User } from './setup.ts';

const unauthorized = (): RestRejection => new RestRejection(401, { message: '401 Unauthorized' });

/** Imitates a GitLab as publicly documented, and stores objects. Rejects requests that it does not know. */
export class GitLab extends StandIn {
  readonly contents: Setup;
  /** Maximum number of objects per page. */
  largestPage = 100;
  /** Remaining calls in this minute of the clock; undefined: unlimited. */
  callsPerMinute: number | undefined;
  /** Usernames by personal access token, and by token obtained with a password. */
  readonly tokens = new Map([['glpat-of-the-account', 'tenantry']]);
  readonly sessions = new Map<string, string>();
  readonly passwords = new Map([['tenantry', 'password-of-the-account']]);
  readonly #api: RestTable;
  readonly #signIns = new RestTable({ 'POST /oauth/token': (call) => ({ json: this.#signIn(call) }) });
  #minute = { number: 0, calls: 0 };

  private constructor(now: () => number) {
    super(now);
    this.contents = new Setup(now);
    this.#api = new RestTable(routes(this), '/api/v4');
  }

  static start = (now: () => number = Date.now, identity?: Identity): Promise<GitLab> =>
    StandIn.startServer(new GitLab(now), identity);

  route(request: VendorRequest): string {
    return this.#tableOf(request).nameOf(request);
  }

  #tableOf = ({ target }: VendorRequest): RestTable => (target.startsWith('/oauth/') ? this.#signIns : this.#api);

  /** Returns a rejection for use as a fault. */
  static rejection = (
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ): VendorResponse => toResponse({ status, json: { message }, headers });

  /** The account is an administrator. */
  get account(): User {
    return [...this.contents.users.values()][0] as User;
  }

  reply(request: VendorRequest): VendorResponse {
    this.contents.advance();
    const minute = Math.floor(this.contents.now() / 60_000);
    if (this.#minute.number !== minute) this.#minute = { number: minute, calls: 0 };
    if (this.callsPerMinute !== undefined && ++this.#minute.calls > this.callsPerMinute) {
      const reset = String((minute + 1) * 60);
      return {
        status: 429,
        headers: { 'Content-Type': 'text/plain', 'RateLimit-Reset': reset },
        text: 'Retry later\n',
      };
    }
    const table = this.#tableOf(request);
    return table.response(request, {
      before: (call) => void (table === this.#signIns || this.caller(call)),
      unknown: new RestRejection(404, { error: '404 Not Found' }),
      unreadable: new RestRejection(400, { error: 'The provided content could not be parsed as JSON' }),
    });
  }

  /** Returns the owner of the token of a call. */
  readonly caller = ({ request: { headers } }: RestCall): User => {
    const personal = headers['private-token'];
    const [, bearer = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
    const name =
      typeof personal === 'string' ? this.tokens.get(personal) : (this.sessions.get(bearer) ?? this.tokens.get(bearer));
    const user = [...this.contents.users.values()].find(({ username }) => username === name);
    if (!user) throw unauthorized();
    return user;
  };

  #signIn({ json: { grant_type: type, password, username } }: RestCall): object {
    if (type !== 'password')
      throw new RestRejection(400, {
        error: 'unsupported_grant_type',
        error_description: 'The authorization grant type is not supported by the authorization server.',
      });
    if (password === undefined || this.passwords.get(username) !== password)
      throw new RestRejection(401, {
        error: 'invalid_grant',
        error_description:
          'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
      });
    const token = `session-${this.sessions.size + 1}`;
    this.sessions.set(token, username);
    return { access_token: token, token_type: 'Bearer', expires_in: 7200, scope: 'api' };
  }
}
