import * as v from 'valibot';
import { baseOf } from '../../../kernel/url.ts';
import { ifExists, ProviderError } from '../../catalogue/provider-error.ts';
import { decoded, type JsonResponse, type VendorCall, type VendorHttp } from '../../catalogue/vendor-http.ts';
import { allPages } from '../../operations/paging.ts';

/* Calls of GitLab's API v4 (providers.md 8) and the used parts of its responses. */

const pageSize = 100;
/** Maximum number of commits to count if GitLab reports no total. */
const maxCounted = 10_000;

const id = v.pipe(v.number(), v.integer());
const text = v.nullish(v.string(), '');
const flag = v.nullish(v.boolean(), false);
/** A URL that is safe to show as a link; other schemes become empty. */
const address = v.pipe(
  text,
  v.transform((url) => (/^https?:\/\//i.test(url) ? url : '')),
);
/** When the object was marked for deletion. */
const marked = v.nullish(v.string(), null);

const group = v.object({
  id,
  name: v.string(),
  path: v.string(),
  full_path: text,
  description: text,
  web_url: address,
  created_at: v.nullish(v.string(), null),
  marked_for_deletion_on: marked,
});

const project = v.object({
  id,
  name: v.string(),
  description: text,
  web_url: address,
  http_url_to_repo: text,
  ssh_url_to_repo: text,
  visibility: text,
  namespace: v.object({ id }),
  wiki_enabled: flag,
  issues_enabled: flag,
  snippets_enabled: flag,
  merge_requests_enabled: flag,
  created_at: v.nullish(v.string(), null),
  marked_for_deletion_at: marked,
  marked_for_deletion_on: marked,
  statistics: v.nullish(v.object({ commit_count: v.nullish(v.number()) })),
});

const member = v.object({ id });
/** Administrators see every email address, other users only public ones. */
const user = v.object({ id, email: text, public_email: text });
const token = v.object({ access_token: v.string() });

export type VendorGroup = v.InferOutput<typeof group>;
export type VendorProject = v.InferOutput<typeof project>;
export type VendorUser = v.InferOutput<typeof user>;

/** URL segments of objects with members. */
export type ObjectCollection = 'groups' | 'projects';

/** A token, or the password of a user. */
type GitLabCredentials = { readonly token: string } | { readonly username: string; readonly password: string };

const rejection = v.object({ message: v.unknown(), error: v.unknown(), error_description: v.unknown() });

/** The vendor's message in an error response: a sentence, or sentences by field. */
function explained(body: unknown): unknown {
  const { error, error_description: description, message } = v.is(v.partial(rejection), body) ? body : {};
  return sentence(message) || sentence(description) || sentence(error);
}

function sentence(message: unknown): string {
  if (typeof message === 'string') return message;
  if (Array.isArray(message)) return message.map(sentence).join(', ');
  if (typeof message !== 'object' || message === null) return '';
  return Object.entries(message)
    .map(([field, wrong]) => (field === 'base' ? sentence(wrong) : `${field} ${sentence(wrong)}`))
    .join(', ');
}

export class GitLabApi {
  /** Address without a slash at its end. */
  readonly site: string;
  /** Headers that authenticate the account. */
  #authorization: Promise<Readonly<Record<string, string>>> | undefined;

  constructor(
    private readonly http: VendorHttp,
    backendUrl: string,
    private readonly credentials: GitLabCredentials,
  ) {
    this.site = baseOf(backendUrl);
  }

  async user(): Promise<void> {
    await this.#call('GET', '/user');
  }

  /** The groups that the account is a member of; `search` matches parts of names and paths. */
  groups = (search: Readonly<Record<string, string>> = {}): Promise<VendorGroup[]> =>
    this.#list('/groups', group, { all_available: 'false', ...search });

  /** The projects that the account is a member of, with the same search. */
  projects = (search: Readonly<Record<string, string>> = {}): Promise<VendorProject[]> =>
    this.#list('/projects', project, { membership: 'true', ...search });

  async group(groupId: string): Promise<VendorGroup> {
    return decoded(group, (await this.#call('GET', `/groups/${groupId}?with_projects=false`)).body);
  }

  async project(projectId: string): Promise<VendorProject> {
    return decoded(project, (await this.#call('GET', `/projects/${projectId}?statistics=true`)).body);
  }

  async createGroup(wanted: { name: string; path: string; description: string }): Promise<VendorGroup> {
    return decoded(group, (await this.#call('POST', '/groups', wanted)).body);
  }

  async createProject(wanted: Readonly<Record<string, unknown>>): Promise<VendorProject> {
    return decoded(project, (await this.#call('POST', '/projects', wanted)).body);
  }

  async delete(collection: ObjectCollection, objectId: string): Promise<void> {
    await this.#call('DELETE', `/${collection}/${objectId}`);
  }

  /** The number of commits of a project, at most `maxCounted`; 0 without a repository. */
  async commits(projectId: string): Promise<number> {
    const { statistics } = await this.project(projectId);
    if (typeof statistics?.commit_count === 'number') return statistics.commit_count;
    const path = `/projects/${projectId}/repository/commits`;
    let count = 0;
    for (let page = '1'; page !== '' && count < maxCounted; ) {
      const response = await ifExists(this.#call('GET', `${path}?per_page=${pageSize}&page=${page}`));
      if (!response) break;
      count += decoded(v.array(v.unknown()), response.body).length;
      page = nextPage(response) ?? '';
    }
    return count;
  }

  /** Ids of the direct members of an object. */
  async members(collection: ObjectCollection, objectId: string): Promise<number[]> {
    return (await this.#list(`/${collection}/${objectId}/members`, member)).map((one) => one.id);
  }

  async addMember(
    collection: ObjectCollection,
    objectId: string,
    membership: { user_id: number; access_level: number },
  ): Promise<void> {
    await this.#call('POST', `/${collection}/${objectId}/members`, membership);
  }

  async removeMember(collection: ObjectCollection, objectId: string, userId: string): Promise<void> {
    await this.#call('DELETE', `/${collection}/${objectId}/members/${userId}`);
  }

  /** Users with exactly this email address; GitLab's search also returns similar ones. */
  async usersOf(email: string): Promise<VendorUser[]> {
    const folded = email.toLowerCase();
    return (await this.#list('/users', user, { search: email })).filter((result) =>
      [result.email, result.public_email].some((known) => known?.toLowerCase() === folded),
    );
  }

  /** Creates a user. GitLab sends them a link to set a password. */
  async createUser(wanted: { email: string; username: string; name: string }): Promise<VendorUser> {
    return decoded(user, (await this.#call('POST', '/users', { ...wanted, reset_password: true })).body);
  }

  /** Sends a call as the account. Replaces an expired token of a password login once. */
  async #call(method: VendorCall['method'], path: string, json?: unknown): Promise<JsonResponse> {
    const url = new URL(`${this.site}/api/v4${path}`);
    const send = async (): Promise<JsonResponse> => {
      this.#authorization ??= this.#authorize();
      return this.http.json({ method, url, headers: await this.#authorization, json }, explained);
    };
    const isFirst = this.#authorization === undefined;
    try {
      return await send();
    } catch (error) {
      const isRejected = error instanceof ProviderError && error.type === 'unauthorized';
      if (!isRejected || isFirst || 'token' in this.credentials) throw error;
      this.#authorization = undefined;
      return send();
    }
  }

  async #authorize(): Promise<Readonly<Record<string, string>>> {
    if ('token' in this.credentials) return { 'PRIVATE-TOKEN': this.credentials.token };
    const { body } = await this.http.json(
      {
        method: 'POST',
        url: new URL(`${this.site}/oauth/token`),
        json: { grant_type: 'password', ...this.credentials },
      },
      explained,
    );
    return { Authorization: `Bearer ${decoded(token, body).access_token}` };
  }

  /** All pages of a list. */
  #list<T>(
    path: string,
    schema: v.GenericSchema<unknown, T>,
    filter: Readonly<Record<string, string>> = {},
  ): Promise<T[]> {
    return allPages(async (page = '1') => {
      const query = new URLSearchParams({ ...filter, per_page: String(pageSize), page });
      const response = await this.#call('GET', `${path}?${query}`);
      return { items: decoded(v.array(schema), response.body), next: nextPage(response) };
    });
  }
}

/** The number of the next page; empty or absent on the last one. */
function nextPage({ headers }: JsonResponse): string | undefined {
  const next = headers['x-next-page'];
  return typeof next === 'string' && /^\d+$/.test(next) ? next : undefined;
}
