import { basicCredentials, RestRefusal, RestTable, written } from '../rest.ts';
import { type Identity, type VendorAnswer, type VendorRequest, VendorServer } from '../server.ts';
import { issueRoutes } from './issues.ts';
import { projectRoutes, wrong } from './projects.ts';
import { type User, World } from './world.ts';

/** A JIRA with a memory, as its public documentation describes it. What it does not know of a request it refuses. */
export class Jira {
  readonly world: World;
  /** Objects on a page at most. */
  largestPage = 100;
  readonly passwords = new Map([
    ['tenantry', 'password-of-the-account'],
    ['helen', 'password-of-helen'],
  ]);
  #server: VendorServer | undefined;

  private constructor(now: () => number) {
    this.world = new World(now);
  }

  static async start(now: () => number = Date.now, identity?: Identity): Promise<Jira> {
    const vendor = new Jira(now);
    const site = {
      world: vendor.world,
      url: () => vendor.url,
      largestPage: () => vendor.largestPage,
      caller: ({ request }: { request: VendorRequest }) => vendor.#caller(request),
      shownUser: (user: User) => ({ ...user, key: user.name, active: true }),
    };
    const table = new RestTable({ ...projectRoutes(site), ...issueRoutes(site) }, '/rest');
    vendor.#server = await VendorServer.start(
      {
        route: (request) => table.nameOf(request),
        answer: (request) => vendor.#file(request) ?? vendor.#answer(request, table),
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
    written({ status, json: wrong([message]), headers });

  #answer = (request: VendorRequest, table: RestTable): VendorAnswer =>
    table.answer(request, {
      before: () => void this.#caller(request),
      unknown: new RestRefusal(404, { message: 'null for uri', 'status-code': 404 }),
      unreadable: new RestRefusal(400, wrong(['Unexpected character in the body'])),
    });

  #caller(request: VendorRequest): User {
    const [name, password] = basicCredentials(request);
    const user = this.world.users.find((known) => known.name === name);
    if (!user || this.passwords.get(name) !== password)
      throw new RestRefusal(
        401,
        wrong(['You are not authenticated. Authentication required to perform this operation.']),
        { 'X-Seraph-LoginReason': 'AUTHENTICATED_FAILED' },
      );
    return user;
  }

  /** The bytes of an attachment, which are no part of the API. */
  #file({ target }: VendorRequest): VendorAnswer | undefined {
    const [, id] = /^\/secure\/attachment\/(\d+)\//.exec(target) ?? [];
    if (id === undefined) return undefined;
    const attachments = [...this.world.issues.values()].flatMap((issue) => issue.attachments);
    const found = attachments.find((attachment) => attachment.id === id);
    return { status: found ? 200 : 404, text: found?.content.toString() ?? '' };
  }
}
