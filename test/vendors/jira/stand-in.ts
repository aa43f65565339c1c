import { basicCredentials, RestRejection, RestTable, written } from '../rest.ts';
import type { Identity, VendorRequest, VendorResponse } from '../server.ts';
import { StandIn } from '../stand-in.ts';
import { issueRoutes } from './issues.ts';
import { projectRoutes, wrong } from './projects.ts';
import { Setup, type User } from './setup.ts';

/** A JIRA with a memory, as its public documentation describes it. What it does not know of a request it rejects. */
export class Jira extends StandIn {
  readonly contents: Setup;
  /** Objects on a page at most. */
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
    StandIn.started(new Jira(now), identity);

  route(request: VendorRequest): string {
    return this.#table.nameOf(request);
  }

  /** An response of rejection, as a mishap needs it. */
  static rejection = (
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ): VendorResponse => written({ status, json: wrong([message]), headers });

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

  /** The bytes of an attachment, which are no part of the API. */
  #file({ target }: VendorRequest): VendorResponse | undefined {
    const [, id] = /^\/secure\/attachment\/(\d+)\//.exec(target) ?? [];
    if (id === undefined) return undefined;
    const attachments = [...this.contents.issues.values()].flatMap((issue) => issue.attachments);
    const matches = attachments.find((attachment) => attachment.id === id);
    return { status: matches ? 200 : 404, text: matches?.content.toString() ?? '' };
  }
}
