/* The state of a JIRA, and its representation. */

export interface User {
  readonly name: string;
  readonly displayName: string;
  readonly emailAddress: string;
}

export interface IssueType {
  readonly id: string;
  readonly name: string;
  readonly subtask: boolean;
}

export interface Template {
  readonly key: string;
  readonly name: string;
  readonly type: string;
  /** Ids of the issue types in its projects. */
  readonly types: readonly string[];
}

export interface Project {
  readonly id: string;
  readonly key: string;
  name: string;
  readonly description: string;
  readonly template: Template;
  readonly lead: User;
  issues: number;
}

export interface Comment {
  readonly id: string;
  body: string;
  readonly author: User;
}

export interface Attachment {
  readonly id: string;
  readonly filename: string;
  readonly content: Buffer;
  readonly author: User;
}

export interface Issue {
  readonly id: string;
  readonly key: string;
  readonly project: Project;
  summary: string;
  description: string | null;
  type: IssueType;
  priority: string;
  status: string;
  resolution: string | null;
  resolved: number | undefined;
  assignee: User | null;
  parent: Issue | undefined;
  readonly creator: User;
  readonly created: number;
  readonly comments: Comment[];
  readonly attachments: Attachment[];
}

const greenhopper = 'com.pyxis.greenhopper.jira:';
const core = 'com.atlassian.jira-core-project-templates:jira-core';

export class Setup {
  /** Milliseconds until the search finds a new issue. */
  indexTime = 60_000;
  readonly users: readonly User[] = [
    { name: 'tenantry', displayName: 'Tenantry', emailAddress: 'tenantry@example.com' },
    { name: 'helen', displayName: 'Helen of the help desk', emailAddress: 'helen@example.com' },
  ];
  readonly priorities = ['Highest', 'High', 'Medium', 'Low', 'Lowest'].map((name, n) => ({ id: String(n + 1), name }));
  readonly types: readonly IssueType[] = ['Task', 'Bug', 'Story', 'Epic', 'Sub-task'].map((name, n) => ({
    id: String(10_000 + n),
    name,
    subtask: name === 'Sub-task',
  }));
  readonly templates: readonly Template[] = [
    {
      key: `${greenhopper}gh-scrum-template`,
      name: 'Scrum software development',
      type: 'software',
      types: ['Task', 'Bug', 'Story', 'Epic', 'Sub-task'],
    },
    {
      key: `${greenhopper}gh-kanban-template`,
      name: 'Kanban software development',
      type: 'software',
      types: ['Task', 'Bug', 'Story', 'Sub-task'],
    },
    {
      key: `${greenhopper}basic-software-development-template`,
      name: 'Basic software development',
      type: 'software',
      types: ['Task', 'Bug', 'Story', 'Epic', 'Sub-task'],
    },
    { key: `${core}-task-management`, name: 'Task management', type: 'business', types: ['Task', 'Sub-task'] },
  ];
  readonly projects = new Map<string, Project>();
  readonly issues = new Map<string, Issue>();
  #ids = 10_100;

  constructor(readonly now: () => number) {}

  newId = (): string => String(++this.#ids);

  addProject({
    description = '',
    key,
    name,
    template = this.templates[0] as Template,
  }: {
    key: string;
    name: string;
    description?: string;
    template?: Template;
  }): Project {
    const lead = this.users[0] as User;
    const project = { id: this.newId(), key, name, description, template, lead, issues: 0 };
    this.projects.set(key, project);
    return project;
  }

  addIssue(
    project: Project,
    fields: Pick<Issue, 'summary' | 'description' | 'type' | 'priority' | 'parent' | 'creator'>,
  ): Issue {
    const issue: Issue = {
      ...fields,
      id: this.newId(),
      key: `${project.key}-${++project.issues}`,
      project,
      status: 'To Do',
      resolution: null,
      resolved: undefined,
      assignee: null,
      created: this.now(),
      comments: [],
      attachments: [],
    };
    this.issues.set(issue.key, issue);
    return issue;
  }

  removeProject({ key }: Project): void {
    this.projects.delete(key);
    for (const issue of this.issues.values()) if (issue.project.key === key) this.issues.delete(issue.key);
  }

  typesOf = ({ template }: Project): IssueType[] => this.types.filter(({ name }) => template.types.includes(name));
}

/** Formats an instant as JIRA does. */
export const written = (instant: number): string => new Date(instant).toISOString().replace('Z', '+0000');
