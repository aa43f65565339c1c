import { present } from '../../../kernel/present.ts';
import type { Driver, DriverCall, DriverSettings, Inventory, PlainValues, Step } from '../../catalogue/driver.ts';
import { ifExists } from '../../catalogue/provider-error.ts';
import type { VendorHttp } from '../../catalogue/vendor-http.ts';
import { type Creation, createOnce } from '../../operations/creation.ts';
import { fileName, JiraApi, type VendorChoice, type VendorIssue } from './api.ts';
import { commentValues, issueValues, loginOf, propertySets } from './values.ts';

/** The operations on a kind of object: a project, or a part of an issue. */
interface Work {
  readonly creation: (call: DriverCall) => Omit<Creation, 'follow'>;
  readonly update: (call: DriverCall, id: string) => Promise<void>;
  readonly remove: (id: string, parent: string) => Promise<void>;
  /** Returns the values of the object with an id; undefined if JIRA has no such object. */
  readonly read: (id: string, parent: string) => Promise<PlainValues | undefined>;
}

/** Driver for JIRA's REST API 2 (providers.md 7.3). */
export class JiraDriver implements Driver {
  readonly #api: JiraApi;
  readonly #kinds: Readonly<Record<string, Work>>;

  constructor({ backend_url: backendUrl, password, username }: DriverSettings, http: VendorHttp) {
    this.#api = new JiraApi(http, present(backendUrl), { username: username ?? '', password: password ?? '' });
    this.#kinds = {
      Project: projects(this.#api),
      Issue: issues(this.#api),
      Comment: comments(this.#api),
      Attachment: attachments(this.#api),
    };
  }

  async ping(): Promise<void> {
    await this.#api.myself();
  }

  /** Lists the issue types of all projects; each project uses a subset. */
  async sync(): Promise<Inventory> {
    const objects: Inventory['objects'][number][] = [];
    const types = new Map<string, VendorChoice>();
    for (const key of await this.#api.projectKeys()) {
      const project = await ifExists(this.#api.project(key));
      if (!project) continue;
      for (const type of project.issueTypes ?? []) types.set(type.id, type);
      const { description, name } = project;
      objects.push({ kind: 'Project', backend_id: key, name, values: { key, description: description ?? '' } });
    }
    const properties = propertySets(await this.#api.templates(), [...types.values()], await this.#api.priorities());
    return { properties, quotas: {}, objects };
  }

  async create(call: DriverCall): Promise<Step> {
    const { creation, read } = this.#work(call);
    return createOnce(call, {
      ...creation(call),
      follow: async (id) => ({ kind: 'done', values: (await read(id, call.parent)) ?? {} }),
    });
  }

  async update(call: DriverCall): Promise<Step> {
    const { read, update } = this.#work(call);
    const id = String(call.values.backend_id);
    await update(call, id);
    return { kind: 'done', values: (await read(id, call.parent)) ?? {} };
  }

  async delete(call: DriverCall): Promise<Step> {
    await this.#work(call).remove(String(call.values.backend_id), call.parent);
    return { kind: 'done' };
  }

  async action(name: string): Promise<Step> {
    throw new Error(`JIRA has no action ${name}`);
  }

  async pull(call: DriverCall): Promise<PlainValues | undefined> {
    return this.#work(call).read(String(call.values.backend_id), call.parent);
  }

  #work({ kind }: DriverCall): Work {
    return present(this.#kinds[kind]);
  }
}

const projects = (api: JiraApi): Work => ({
  creation: ({ parameters, values }) => {
    const key = String(parameters.key);
    const existingKeys = async (): Promise<string[]> => ((await ifExists(api.project(key))) ? [key] : []);
    return {
      before: existingKeys,
      make: async () => {
        const lead = await api.myself();
        return api.createProject({
          key,
          name: String(values.name),
          projectTypeKey: String(parameters.project_type),
          projectTemplateKey: String(parameters.template),
          // Versions without names take account ids.
          ...(lead?.name ? { lead: lead.name } : { leadAccountId: loginOf(lead) }),
        });
      },
      find: async (before) => (await existingKeys()).find((there) => !before.includes(there)),
    };
  },
  update: ({ values }, key) => api.renameProject(key, String(values.name)),
  remove: (key) => api.deleteProject(key),
  read: async (key) => {
    const { description, name } = await api.project(key);
    return { name, description: description ?? '' };
  },
});

/** Compares texts regardless of line endings and surrounding spaces, which JIRA may change. */
const isSame = (theirs: string | null | undefined, ours: unknown): boolean =>
  (theirs ?? '').replaceAll('\r\n', '\n').trim() === String(ours).trim();

const issues = (api: JiraApi): Work => ({
  creation: ({ parent, values }) => ({
    before: async () => {
      let newest = await api.newestFound(parent);
      for await (const { number } of api.issuesAfter(parent, newest)) newest = number;
      return [String(newest)];
    },
    make: () =>
      api.createIssue({
        project: { key: parent },
        ...fieldsOf(values),
        ...(values.parent_key ? parentField(values) : {}),
      }),
    find: async ([newest]) => {
      for await (const { fields, key } of api.issuesAfter(parent, Number(newest)))
        if (isSame(fields.summary, values.summary) && isSame(fields.description, values.description)) return key;
      return undefined;
    },
  }),
  update: async ({ values }, key) => {
    const fields = changedFields(await api.issue(key), values);
    if (Object.keys(fields).length > 0) await api.updateIssue(key, fields);
  },
  remove: (key) => api.deleteIssue(key),
  read: async (key) => {
    const existing = await api.issue(key);
    // JIRA also returns an issue that was moved to another project under its old key.
    return existing.key === key ? issueValues(existing) : undefined;
  },
});

const parentField = ({ parent_key: key }: PlainValues): PlainValues => ({ parent: { key } });

const fieldsOf = ({ description, priority_name: priority, summary, type_name: type }: PlainValues): PlainValues => ({
  summary,
  description,
  issuetype: { name: type },
  priority: { name: priority },
});

/** The fields that differ from JIRA's. Unchanged fields are omitted because JIRA rejects some of them on some screens. */
function changedFields(issue: VendorIssue, values: PlainValues): PlainValues {
  const current = issueValues(issue);
  const differs = (name: string): boolean => !isSame(String(current[name] ?? ''), values[name] ?? '');
  const { description, issuetype, priority, summary } = fieldsOf(values);
  return {
    ...(differs('summary') && { summary }),
    ...(differs('description') && { description }),
    ...(differs('type_name') && { issuetype }),
    ...(differs('priority_name') && { priority }),
    ...(differs('parent_key') && parentField(values)),
  };
}

const comments = (api: JiraApi): Work => ({
  creation: ({ parent, values }) => {
    const alike = async (): Promise<string[]> =>
      (await api.comments(parent)).filter(({ body }) => isSame(body, values.message)).map(({ id }) => id);
    return {
      before: alike,
      make: () => api.addComment(parent, String(values.message)),
      find: async (before) => (await alike()).find((id) => !before.includes(id)),
    };
  },
  update: ({ parent, values }, id) => api.updateComment(parent, id, String(values.message)),
  remove: (id, parent) => api.deleteComment(parent, id),
  // A webhook may contain any id.
  read: async (id, parent) => (/^\d+$/.test(id) ? commentValues(await api.comment(parent, id), parent) : undefined),
});

const attachments = (api: JiraApi): Work => ({
  creation: ({ parameters, parent, values }) => {
    const alike = async (): Promise<string[]> =>
      (await api.attachments(parent))
        .filter(({ filename, size }) => filename === fileName(String(values.name)) && size === values.size)
        .map(({ id }) => id);
    return {
      before: alike,
      make: () => api.attach(parent, String(values.name), contentOf(parameters)),
      find: async (before) => (await alike()).find((id) => !before.includes(id)),
    };
  },
  update: async () => {
    throw new Error('An attachment is never changed');
  },
  remove: (id) => api.deleteAttachment(id),
  read: async (id) => ((await api.attachment(id)) ? {} : undefined),
});

function contentOf({ content }: PlainValues): Buffer {
  if (!(content instanceof Uint8Array)) throw new Error('An attachment without content');
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}
