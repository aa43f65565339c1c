import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { baseOf } from '../../../kernel/url.ts';
import { ifExists } from '../../catalogue/provider-error.ts';
import {
  basicAuthorization,
  decoded,
  type JsonResponse,
  type VendorCall,
  type VendorHttp,
  type VendorResponse,
} from '../../catalogue/vendor-http.ts';
import { allPages } from '../../operations/paging.ts';

/* Calls of JIRA's REST API 2 (providers.md 7.3) and the used parts of its responses. */

const pageSize = 100;
/** Number of consecutive missing issues after which a listing ends; deleted issues leave gaps. */
const maxMissing = 3;

const text = v.nullish(v.string(), '');
/** Ids as text; some versions send numbers. */
const id = v.pipe(
  v.union([v.string(), v.number()]),
  v.transform((input) => String(input)),
);
const named = v.object({ name: v.string() });
/** A person; some versions send account ids instead of names. */
const person = v.nullish(v.object({ name: text, accountId: text, displayName: text, emailAddress: text }), null);

const described = { id, name: v.string(), description: text, iconUrl: text };
const priority = v.object(described);
const issueType = v.object({ ...described, subtask: v.nullish(v.boolean(), false) });
const listedProject = v.object({ key: v.string() });
const project = v.object({
  key: v.string(),
  name: v.string(),
  description: text,
  issueTypes: v.nullish(v.array(issueType), []),
});

const template = v.object({
  name: v.string(),
  description: text,
  iconUrl: text,
  projectTypeKey: text,
  projectTemplateModuleCompleteKey: v.string(),
});
const templates = v.object({
  projectTemplatesGroupedByType: v.array(v.object({ projectTemplates: v.array(template) })),
});

const issue = v.object({
  key: v.string(),
  fields: v.object({
    summary: text,
    description: text,
    issuetype: v.nullish(named, null),
    priority: v.nullish(named, null),
    status: v.nullish(named, null),
    resolution: v.nullish(named, null),
    resolutiondate: v.nullish(v.string(), null),
    parent: v.nullish(v.object({ key: v.string() }), null),
    creator: person,
    assignee: person,
    reporter: person,
  }),
});

const comment = v.object({ id, body: text, author: person });
const attachment = v.object({ id, filename: v.string(), size: v.number() });

export type VendorIssue = v.InferOutput<typeof issue>;
type VendorProject = v.InferOutput<typeof project>;
export type VendorPerson = v.InferOutput<typeof person>;
export type VendorTemplate = v.InferOutput<typeof template>;
export type VendorComment = v.InferOutput<typeof comment>;
type VendorAttachment = v.InferOutput<typeof attachment>;
/** An issue type or priority. */
export type VendorChoice = v.InferOutput<typeof priority> & { readonly subtask?: boolean | null };

/** Fields of an issue that are read. */
const issueFields = Object.keys(issue.entries.fields.entries).join(',');

const rejection = v.partial(
  v.object({ errorMessages: v.array(v.string()), errors: v.record(v.string(), v.string()), message: v.string() }),
);

const captcha = 'JIRA CAPTCHA is triggered. Please reset credentials';

/** The vendor's messages in an error response. After too many failed logins JIRA requires a CAPTCHA. */
function explained(body: unknown, { headers }: VendorResponse): unknown {
  const { 'x-authentication-denied-reason': denied, 'x-seraph-loginreason': reason } = headers;
  if (/AUTHENTICATED_FAILED|AUTHENTICATION_DENIED/.test(String(reason)) || /CAPTCHA/.test(String(denied)))
    return captcha;
  const { errorMessages = [], errors = {}, message = '' } = v.is(rejection, body) ? body : {};
  return [...errorMessages, ...Object.values(errors)].join(', ') || message;
}

const path = (strings: TemplateStringsArray, ...parts: readonly string[]): string =>
  String.raw(strings, ...parts.map(encodeURIComponent));

export class JiraApi {
  readonly #site: string;
  readonly #authorization: Readonly<Record<string, string>>;

  constructor(
    private readonly http: VendorHttp,
    backendUrl: string,
    credentials: { readonly username: string; readonly password: string },
  ) {
    this.#site = baseOf(backendUrl);
    this.#authorization = basicAuthorization(credentials.username, credentials.password);
  }

  async myself(): Promise<VendorPerson> {
    return decoded(person, (await this.#call('GET', '/myself')).body);
  }

  /** Keys of all projects that the account sees. */
  async projectKeys(): Promise<string[]> {
    return decoded(v.array(listedProject), (await this.#call('GET', '/project')).body).map(({ key }) => key);
  }

  async project(key: string): Promise<VendorProject> {
    return decoded(project, (await this.#call('GET', path`/project/${key}`)).body);
  }

  async priorities(): Promise<VendorChoice[]> {
    return decoded(v.array(priority), (await this.#call('GET', '/priority')).body);
  }

  async templates(): Promise<VendorTemplate[]> {
    const url = new URL(`${this.#site}/rest/project-templates/latest/templates`);
    const { body } = await this.#send({ method: 'GET', url });
    return decoded(templates, body).projectTemplatesGroupedByType.flatMap((group) => group.projectTemplates);
  }

  async createProject(wanted: Readonly<Record<string, string>>): Promise<string> {
    return decoded(listedProject, (await this.#call('POST', '/project', wanted)).body).key;
  }

  async renameProject(key: string, name: string): Promise<void> {
    await this.#call('PUT', path`/project/${key}`, { name });
  }

  async deleteProject(key: string): Promise<void> {
    await this.#call('DELETE', path`/project/${key}`);
  }

  async issue(key: string): Promise<VendorIssue> {
    return decoded(issue, (await this.#call('GET', `${path`/issue/${key}`}?fields=${issueFields}`)).body);
  }

  /** The number of the newest issue in JIRA's search index, which lags behind; 0 if there is none. */
  async newestFound(projectKey: string): Promise<number> {
    const jql = `project = "${projectKey}" ORDER BY key DESC`;
    const query = new URLSearchParams({ jql, startAt: '0', maxResults: '1', fields: 'summary' });
    const { body } = await this.#call('GET', `/search?${query}`);
    const [newest] = decoded(v.object({ issues: v.array(listedProject) }), body).issues;
    return Number(/-(\d+)$/.exec(newest?.key ?? '')?.[1] ?? 0);
  }

  /** The issues of a project after a number, read one by one until none is left. */
  async *issuesAfter(projectKey: string, number: number): AsyncGenerator<VendorIssue & { readonly number: number }> {
    for (let next = number + 1, missing = 0; missing < maxMissing; next++) {
      const key = `${projectKey}-${next}`;
      const existing = await ifExists(this.issue(key));
      missing = existing ? 0 : missing + 1;
      // JIRA also returns an issue that was moved to another project under its old key.
      if (existing?.key === key) yield { ...existing, number: next };
    }
  }

  async createIssue(fields: object): Promise<string> {
    return decoded(listedProject, (await this.#call('POST', '/issue', { fields })).body).key;
  }

  async updateIssue(key: string, fields: object): Promise<void> {
    await this.#call('PUT', path`/issue/${key}`, { fields });
  }

  async deleteIssue(key: string): Promise<void> {
    await this.#call('DELETE', path`/issue/${key}`);
  }

  comments(issueKey: string): Promise<VendorComment[]> {
    return allPages(async (start = '0') => {
      const { body } = await this.#call(
        'GET',
        `${path`/issue/${issueKey}/comment`}?startAt=${start}&maxResults=${pageSize}`,
      );
      const { comments, total } = decoded(
        v.object({ comments: v.array(comment), total: v.nullish(v.number(), 0) }),
        body,
      );
      const end = Number(start) + comments.length;
      return { items: comments, next: comments.length > 0 && end < (total ?? 0) ? String(end) : undefined };
    });
  }

  async comment(issueKey: string, commentId: string): Promise<VendorComment> {
    return decoded(comment, (await this.#call('GET', path`/issue/${issueKey}/comment/${commentId}`)).body);
  }

  async addComment(issueKey: string, body: string): Promise<string> {
    return decoded(comment, (await this.#call('POST', path`/issue/${issueKey}/comment`, { body })).body).id;
  }

  async updateComment(issueKey: string, commentId: string, body: string): Promise<void> {
    await this.#call('PUT', path`/issue/${issueKey}/comment/${commentId}`, { body });
  }

  async deleteComment(issueKey: string, commentId: string): Promise<void> {
    await this.#call('DELETE', path`/issue/${issueKey}/comment/${commentId}`);
  }

  /** The attachments of an issue. */
  async attachments(issueKey: string): Promise<VendorAttachment[]> {
    const { body } = await this.#call('GET', `${path`/issue/${issueKey}`}?fields=attachment`);
    const shape = v.object({ fields: v.object({ attachment: v.nullish(v.array(attachment), []) }) });
    return decoded(shape, body).fields.attachment ?? [];
  }

  /** Attaches a file. Returns its id. */
  async attach(issueKey: string, name: string, content: Buffer): Promise<string> {
    const boundary = `tenantry-${randomUUID()}`;
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${fileName(name)}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
    const { body } = await this.#send({
      method: 'POST',
      url: this.#url(path`/issue/${issueKey}/attachments`),
      headers: { 'X-Atlassian-Token': 'nocheck', 'Content-Type': `multipart/form-data; boundary=${boundary}` },
      body: [Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)],
    });
    return decoded(v.tuple([attachment]), body)[0].id;
  }

  /** An attachment, or undefined when there is none of this id. */
  attachment = (attachmentId: string): Promise<VendorAttachment | undefined> =>
    ifExists(
      this.#call('GET', path`/attachment/${attachmentId}`).then(({ body }) =>
        decoded(v.object({ ...attachment.entries, id: v.optional(id, attachmentId) }), body),
      ),
    );

  async deleteAttachment(attachmentId: string): Promise<void> {
    await this.#call('DELETE', path`/attachment/${attachmentId}`);
  }

  #url = (below: string): URL => new URL(`${this.#site}/rest/api/2${below}`);

  #call(method: VendorCall['method'], below: string, json?: unknown): Promise<JsonResponse> {
    return this.#send({ method, url: this.#url(below), json });
  }

  #send({ headers, ...call }: VendorCall & { readonly json?: unknown }): Promise<JsonResponse> {
    return this.http.json({ ...call, headers: { ...this.#authorization, ...headers } }, explained);
  }
}

/** The name of a file as escaped in a form (HTML, "Multipart form data"), and stored by JIRA. */
export const fileName = (name: string): string => name.replace(/["\r\n]/g, encodeURIComponent);
