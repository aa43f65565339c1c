import type { Json } from '../../support/fixture.ts';
import { type RestCall, RestRejection, type RestRoutes } from '../rest.ts';
import { uploadedFile } from './multipart.ts';
import { forbidUnknown, type Site, wrong } from './projects.ts';
import { type Attachment, type Comment, type Issue, type Project, type User, written } from './setup.ts';

/* The calls of JIRA's REST API 2 about issues and their parts. */

const gone = (): RestRejection => new RestRejection(404, wrong(['Issue Does Not Exist']));
const fieldNames = ['project', 'summary', 'description', 'issuetype', 'priority', 'parent'];

export function issueRoutes({ caller, largestPage, shownUser, url, state: setup }: Site): RestRoutes {
  const issueOf = ({ params: { key = '' } }: RestCall): Issue => {
    const issue = setup.issues.get(key) ?? [...setup.issues.values()].find(({ id }) => id === key);
    if (!issue) throw gone();
    return issue;
  };

  const commentOf = (call: RestCall): [Issue, Comment] => {
    const issue = issueOf(call);
    const comment = issue.comments.find(({ id }) => id === call.params.id);
    if (!comment) throw new RestRejection(404, wrong([`Can not find a comment for the id: ${call.params.id}.`]));
    return [issue, comment];
  };

  const self = (path: string): string => `${url()}/rest/api/2/${path}`;

  const shownComment = (issue: Issue, { author, body, id }: Comment): Json => ({
    self: self(`issue/${issue.id}/comment/${id}`),
    id,
    body,
    author: shownUser(author),
    updateAuthor: shownUser(author),
    created: written(issue.created),
    updated: written(issue.created),
  });

  const shownAttachment = ({ author, content, filename, id }: Attachment): Json => ({
    self: self(`attachment/${id}`),
    id,
    filename,
    author: shownUser(author),
    size: content.length,
    mimeType: 'application/octet-stream',
    content: `${url()}/secure/attachment/${id}/${encodeURIComponent(filename)}`,
  });

  const allFields = (issue: Issue): Record<string, unknown> => ({
    summary: issue.summary,
    description: issue.description,
    project: { id: issue.project.id, key: issue.project.key, name: issue.project.name },
    issuetype: issue.type,
    priority: setup.priorities.find(({ name }) => name === issue.priority),
    status: { id: '1', name: issue.status },
    resolution: issue.resolution === null ? null : { id: '1', name: issue.resolution },
    resolutiondate: issue.resolved === undefined ? null : written(issue.resolved),
    creator: shownUser(issue.creator),
    reporter: shownUser(issue.creator),
    assignee: issue.assignee && shownUser(issue.assignee),
    created: written(issue.created),
    updated: written(issue.created),
    ...(issue.parent && { parent: { id: issue.parent.id, key: issue.parent.key } }),
    attachment: issue.attachments.map(shownAttachment),
    comment: { comments: issue.comments.map((comment) => shownComment(issue, comment)), total: issue.comments.length },
  });

  function shownIssue(issue: Issue, wanted: string | null): Json {
    const names = wanted?.split(',').filter((name) => !name.startsWith('*')) ?? [];
    const all = Object.entries(allFields(issue));
    const fields = names.length > 0 ? all.filter(([name]) => names.includes(name)) : all;
    return { id: issue.id, key: issue.key, self: self(`issue/${issue.id}`), fields: Object.fromEntries(fields) };
  }

  /** Checks the fields of an issue; returns them as the simulated objects store them. */
  function checked(input: Json, project: Project): Partial<Issue> {
    const errors: Record<string, string> = {};
    for (const name of Object.keys(input))
      if (!fieldNames.includes(name))
        errors[name] = `Field '${name}' cannot be set. It is not on the appropriate screen, or unknown.`;
    const { description, issuetype, parent, priority, summary } = input;
    if (summary !== undefined && (typeof summary !== 'string' || summary.trim() === ''))
      errors.summary = 'You must specify a summary of the issue.';
    if (typeof summary === 'string' && summary.length > 255)
      errors.summary = 'Summary must be less than 255 characters.';
    const type = setup.typesOf(project).find(({ id, name }) => name === issuetype?.name || id === issuetype?.id);
    if (issuetype !== undefined && !type) errors.issuetype = 'issue type is required';
    if (priority !== undefined && !setup.priorities.some(({ name }) => name === priority.name))
      errors.priority = `Priority name '${priority.name}' is not valid`;
    const above = parent && setup.issues.get(parent.key);
    if (type?.subtask && parent === undefined)
      errors.issuetype = 'Issue type is a sub-task but parent issue key or id not specified.';
    if (parent && (!above || above.project !== project)) errors.parent = 'Could not find issue by id or key.';
    if (Object.keys(errors).length > 0) throw new RestRejection(400, wrong([], errors));
    return {
      ...(summary !== undefined && { summary: summary.trim() }),
      ...(description !== undefined && { description: description || null }),
      ...(type && { type }),
      ...(priority && { priority: priority.name }),
      ...(above && { parent: above }),
    };
  }

  /** Returns the result of a JQL query: the issues of a project by key. */
  function matches(jql: string): Issue[] {
    const [, key = '', direction = 'DESC'] =
      /^\s*project\s*=\s*"?(\w+)"?\s*(?:ORDER\s+BY\s+key(?:\s+(ASC|DESC))?)?\s*$/i.exec(jql) ?? [];
    if (key === '') throw new RestRejection(400, wrong([`Error in the JQL Query: '${jql}'.`]));
    if (!setup.projects.has(key))
      throw new RestRejection(400, wrong([`The value '${key}' does not exist for the field 'project'.`]));
    const issues = [...setup.issues.values()].filter(
      ({ created, project }) => project.key === key && created + setup.indexTime <= setup.now(),
    );
    return direction.toUpperCase() === 'DESC' ? issues.reverse() : issues;
  }

  const range = ({ query }: RestCall): [start: number, size: number] => [
    Number(query.get('startAt') ?? 0),
    Math.min(Number(query.get('maxResults') ?? 50), largestPage()),
  ];

  return {
    'GET /api/2/field': () => ({
      json: fieldNames.map((name) => ({ id: name, name, custom: false, clauseNames: [name] })),
    }),

    'GET /api/2/search': (call) => {
      forbidUnknown(call, [], ['jql', 'startAt', 'maxResults', 'fields', 'validateQuery', 'expand']);
      const issues = matches(call.query.get('jql') ?? '');
      const [startAt, maxResults] = range(call);
      const fields = call.query.get('fields');
      const page = issues.slice(startAt, startAt + maxResults).map((issue) => shownIssue(issue, fields));
      return { json: { startAt, maxResults, total: issues.length, issues: page } };
    },

    'POST /api/2/issue': (call) => {
      forbidUnknown(call, ['fields'], ['update']);
      const { fields } = call.json;
      const project = setup.projects.get(fields.project?.key);
      if (!project) throw new RestRejection(400, wrong([], { project: 'project is required' }));
      const lacks = ['summary', 'issuetype'].filter((name) => fields[name] === undefined);
      if (lacks.length > 0)
        throw new RestRejection(400, wrong([], Object.fromEntries(lacks.map((name) => [name, `${name} is required`]))));
      const { description = null, parent, priority = 'Medium', summary = '', type } = checked(fields, project);
      if (!type) throw gone();
      const creator = caller(call);
      const { id, key } = setup.addIssue(project, { summary, description, type, priority, parent, creator });
      return { status: 201, json: { id, key, self: self(`issue/${id}`) } };
    },

    'GET /api/2/issue/:key': (call) => {
      forbidUnknown(call, [], ['fields', 'expand']);
      return { json: shownIssue(issueOf(call), call.query.get('fields')) };
    },

    'PUT /api/2/issue/:key': (call) => {
      forbidUnknown(call, [], ['fields', 'update', 'notifyUsers']);
      const issue = issueOf(call);
      Object.assign(issue, checked(call.json.fields ?? {}, issue.project));
      return { status: 204 };
    },

    'DELETE /api/2/issue/:key': (call) => {
      forbidUnknown(call, [], ['deleteSubtasks']);
      const issue = issueOf(call);
      if ([...setup.issues.values()].some(({ parent }) => parent === issue))
        throw new RestRejection(400, wrong([`The issue '${issue.key}' has subtasks.`]));
      setup.issues.delete(issue.key);
      return { status: 204 };
    },

    'GET /api/2/issue/:key/comment': (call) => {
      forbidUnknown(call, [], ['startAt', 'maxResults', 'expand', 'orderBy']);
      const issue = issueOf(call);
      const [startAt, maxResults] = range(call);
      const comments = issue.comments.slice(startAt, startAt + maxResults);
      return {
        json: {
          startAt,
          maxResults,
          total: issue.comments.length,
          comments: comments.map((comment) => shownComment(issue, comment)),
        },
      };
    },

    'POST /api/2/issue/:key/comment': (call) => {
      forbidUnknown(call, ['body'], ['visibility']);
      const issue = issueOf(call);
      const comment = { id: setup.newId(), body: call.json.body, author: caller(call) };
      issue.comments.push(comment);
      return { status: 201, json: shownComment(issue, comment) };
    },

    'GET /api/2/issue/:key/comment/:id': (call) => ({ json: shownComment(...commentOf(call)) }),

    'PUT /api/2/issue/:key/comment/:id': (call) => {
      forbidUnknown(call, ['body'], ['visibility']);
      const [issue, comment] = commentOf(call);
      comment.body = call.json.body;
      return { json: shownComment(issue, comment) };
    },

    'DELETE /api/2/issue/:key/comment/:id': (call) => {
      const [issue, comment] = commentOf(call);
      issue.comments.splice(issue.comments.indexOf(comment), 1);
      return { status: 204 };
    },

    'POST /api/2/issue/:key/attachments': (call) => {
      const issue = issueOf(call);
      if (!/^no-?check$/.test(String(call.request.headers['x-atlassian-token'])))
        throw new RestRejection(403, 'XSRF check failed');
      const file = uploadedFile(call.request);
      if (!file || file.content.length === 0)
        throw new RestRejection(400, wrong(['The upload is empty or malformed.']));
      const author: User = caller(call);
      const attachment = { id: setup.newId(), filename: file.name, content: file.content, author };
      issue.attachments.push(attachment);
      return { json: [shownAttachment(attachment)] };
    },

    'GET /api/2/attachment/:id': (call) => ({ json: shownAttachment(attachmentOf(call)[1]) }),

    'DELETE /api/2/attachment/:id': (call) => {
      const [issue, attachment] = attachmentOf(call);
      issue.attachments.splice(issue.attachments.indexOf(attachment), 1);
      return { status: 204 };
    },
  };

  function attachmentOf({ params: { id } }: RestCall): [Issue, Attachment] {
    for (const issue of setup.issues.values())
      for (const attachment of issue.attachments) if (attachment.id === id) return [issue, attachment];
    throw new RestRejection(404, wrong([`The attachment with id '${id}' does not exist`]));
  }
}
