import { basicCredentials, RestRejection, RestTable, toResponse } from '../rest.ts';
import type { Identity, VendorRequest, VendorResponse } from '../server.ts';
import { StandIn } from '../stand-in.ts';
import { issueRoutes } from './issues.ts';
import { projectRoutes, wrong } from './projects.ts';
import { Setup, type User } from './setup.ts';

/** Imitates a JIRA as publicly documented, and stores objects. Rejects requests that it does not know. */
export class Jira extends StandIn {
  readonly contents: Setup;
  /** Maximum number of objects per page. */
  largestPage = 100;
  readonly passwords = new Map([
    ['tenantry', 'password-of-the-account'],
    ['helen', 'password-of-helen'],
  ]);
  readonly #table: RestTable;

  private constructor(now: () => number) {
    super(now);
    this.contents = new Setup(now);
    const site = {
      state: this.contents,
      url: () => this.url,
      largestPage: () => this.largestPage,
      caller: ({ request }: { request: VendorRequest }) => this.#caller(request),
      shownUser: (user: User) => ({ ...user, key: user.name, active: true }),
    };
    this.#table = new RestTable({ ...projectRoutes(site), ...issueRoutes(site) }, '/rest');
  }

  static start = (now: () => number = Date.now, identity?: Identity): Promise<Jira> =>
    StandIn.startServer(new Jira(now), identity);

  route(request: VendorRequest): string {
    return this.#table.nameOf(request);
  }

  /** Returns a rejection for use as a fault. */
  static rejection = (
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ): VendorResponse => toResponse({ status, json: wrong([message]), headers });

  reply(request: VendorRequest): VendorResponse {
    return (
      this.#file(request) ??
      this.#table.response(request, {
        before: () => void this.#caller(request),
        unknown: new RestRejection(404, { message: 'null for uri', 'status-code': 404 }),
        unreadable: new RestRejection(400, wrong(['Unexpected character in the body'])),
      })
    );
  }

  #caller(request: VendorRequest): User {
    const [name, password] = basicCredentials(request);
    const user = this.contents.users.find((known) => known.name === name);
    if (!user || this.passwords.get(name) !== password)
      throw new RestRejection(
        401,
        wrong(['You are not authenticated. Authentication required to perform this operation.']),
        { 'X-Seraph-LoginReason': 'AUTHENTICATED_FAILED' },
      );
    return user;
  }

  /** Returns the bytes of an attachment. The API has no call for them. */
  #file({ target }: VendorRequest): VendorResponse | undefined {
    const [, id] = /^\/secure\/attachment\/(\d+)\//.exec(target) ?? [];
    if (id === undefined) return undefined;
    const attachments = [...this.contents.issues.values()].flatMap((issue) => issue.attachments);
    const matches = attachments.find((attachment) => attachment.id === id);
    return { status: matches ? 200 : 404, text: matches?.content.toString() ?? '' };
  }
}
