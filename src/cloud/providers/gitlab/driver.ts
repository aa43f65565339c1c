import * as v from 'valibot';
import { present } from '../../../kernel/present.ts';
import type {
  BackendReference,
  Driver,
  DriverCall,
  DriverSettings,
  Inventory,
  PlainValues,
  Step,
} from '../../catalogue/driver.ts';
import { ifExists, ProviderError } from '../../catalogue/provider-error.ts';
import type { VendorHttp } from '../../catalogue/vendor-http.ts';
import { createOnce } from '../../operations/creation.ts';
import { GitLabApi, type ObjectCollection, type VendorGroup, type VendorProject } from './api.ts';
import { GitLabMembership } from './membership.ts';
import { groupObject, groupValues, isLeaving, pathOf, projectObject, projectValues, visibilityOf } from './values.ts';

/** Milliseconds between two polls of a deletion. */
const period = 2000;

/** Progress of a deletion: whether GitLab has accepted it. */
const memoSchema = v.object({ isLeaving: v.optional(v.boolean(), false) });

/** The operations on a kind of object. */
interface Work {
  readonly collection: ObjectCollection;
  /** The object with an id, with its values. */
  readonly find: (
    id: string,
  ) => Promise<{ readonly existing: VendorGroup | VendorProject; readonly values: PlainValues }>;
  /** Objects that match the one to create. */
  readonly matching: (call: DriverCall) => Promise<readonly { readonly id: number }[]>;
  readonly make: (call: DriverCall) => Promise<{ readonly id: number }>;
  /** Values of a new object that GitLab does not return. */
  readonly initial: PlainValues;
}

/** Driver for GitLab's API v4 (providers.md 8). */
export class GitLabDriver implements Driver {
  readonly #api: GitLabApi;
  readonly #kinds: Readonly<Record<string, Work>>;
  readonly membership: GitLabMembership;

  constructor({ backend_url: backendUrl, password, token, username }: DriverSettings, http: VendorHttp) {
    const credentials = token ? { token } : { username: username ?? '', password: password ?? '' };
    this.#api = new GitLabApi(http, present(backendUrl), credentials);
    this.#kinds = { Group: groups(this.#api), Project: projects(this.#api) };
    this.membership = new GitLabMembership(this.#api, (kind) => this.#work(kind).collection);
  }

  async ping(): Promise<void> {
    try {
      await this.#api.user();
    } catch (error) {
      if (!(error instanceof ProviderError) || error.type === 'unavailable' || error.type === 'limited') throw error;
      throw new ProviderError('unauthorized', 'Please check backend URL and credentials', undefined, undefined, {
        cause: error,
      });
    }
  }

  async sync(): Promise<Inventory> {
    const withoutDeleted = <T extends VendorGroup | VendorProject>(list: readonly T[]): T[] =>
      list.filter((one) => !isLeaving(one));
    const objects = [
      ...withoutDeleted(await this.#api.groups()).map((group) => groupObject(group, this.#api.site)),
      ...withoutDeleted(await this.#api.projects()).map(projectObject),
    ];
    return { properties: {}, quotas: {}, objects };
  }

  async create(call: DriverCall): Promise<Step> {
    const { matching, find, initial, make } = this.#work(call.kind);
    const ids = async (): Promise<string[]> => (await matching(call)).map(({ id }) => String(id));
    return createOnce(call, {
      before: ids,
      make: async () => String((await make(call)).id),
      find: async (before) => (await ids()).find((id) => !before.includes(id)),
      follow: async (id) => ({ kind: 'done', values: { ...(await find(id)).values, ...initial } }),
    });
  }

  /** Names and descriptions are not sent to GitLab. */
  async update(): Promise<Step> {
    return { kind: 'done' };
  }

  /** GitLab deletes in the background; deleted objects stay listed for some days with a mark. */
  async delete({ kind, memo, values }: DriverCall): Promise<Step> {
    const id = String(values.backend_id);
    const { find, collection } = this.#work(kind);
    const found = await ifExists(find(id));
    if (!found || isLeaving(found.existing)) return { kind: 'done' };
    if (!v.parse(memoSchema, memo).isLeaving) await this.#api.delete(collection, id);
    return { kind: 'wait', milliseconds: period, memo: { ...memo, isLeaving: true } };
  }

  async action(name: string): Promise<Step> {
    throw new Error(`GitLab has no action ${name}`);
  }

  async pull({ kind, values }: DriverCall): Promise<PlainValues | undefined> {
    const id = String(values.backend_id);
    const { existing, values: current } = await this.#work(kind).find(id);
    return isLeaving(existing) ? undefined : { ...current, ...(await this.measure({ kind, backend_id: id })) };
  }

  async measure({ backend_id: id, kind }: BackendReference): Promise<PlainValues> {
    return kind === 'Project' ? { commit_count: await this.#api.commits(id) } : {};
  }

  #work(kind: string): Work {
    return present(this.#kinds[kind]);
  }
}

const groups = (api: GitLabApi): Work => ({
  collection: 'groups',
  find: async (id) => {
    const existing = await api.group(id);
    return { existing, values: groupValues(existing, api.site) };
  },
  matching: async ({ values: { path } }) =>
    (await api.groups({ search: String(path) })).filter((group) => pathOf(group) === path),
  make: ({ values: { description, name, path } }) =>
    api.createGroup({ name: String(name), path: String(path), description: String(description) }),
  initial: {},
});

const projects = (api: GitLabApi): Work => ({
  collection: 'projects',
  find: async (id) => {
    const existing = await api.project(id);
    return { existing, values: projectValues(existing) };
  },
  matching: async ({ parent, values: { name } }) =>
    (await api.projects({ search: String(name) })).filter(
      (project) => project.name === name && String(project.namespace.id) === parent,
    ),
  make: ({ parent, values }) =>
    api.createProject({
      name: values.name,
      description: values.description,
      namespace_id: Number(parent),
      visibility: visibilityOf(values.visibility_level),
      wiki_enabled: values.wiki_enabled === true,
      issues_enabled: values.issues_enabled === true,
      snippets_enabled: values.snippets_enabled === true,
      merge_requests_enabled: values.merge_requests_enabled === true,
    }),
  initial: { commit_count: 0 },
});
