import type { PlainValues } from '../../catalogue/driver.ts';
import type { OtherChange, OtherObject, SimulatedProperty, Simulation } from '../../catalogue/simulation.ts';

const named = (
  names: readonly string[],
  describe: (name: string) => Readonly<Record<string, unknown>>,
): readonly SimulatedProperty[] =>
  names.map((name, i) => ({ backend_id: String(i + 1), name, details: { icon_url: '', ...describe(name) } }));

/** The account at the simulated JIRA. */
const account = { username: 'simulator', name: 'JIRA simulator', email: 'simulator@jira.example.com' };

const person = (role: string, { email, name, username }: typeof account): PlainValues => ({
  [`${role}_username`]: username,
  [`${role}_name`]: name,
  [`${role}_email`]: email,
});

const unassigned = { username: '', name: '', email: '' };

type All = (kind: string) => readonly OtherObject[];

const removed = (kind: string, objects: readonly OtherObject[]): OtherChange[] =>
  objects.map(({ backend_id }) => ({ kind, action: 'remove', backend_id }));

/** Comments and attachments, which are deleted with their issue. */
const withIssues = (all: All, keys: readonly string[]): OtherChange[] =>
  ['Comment', 'Attachment'].flatMap((kind) =>
    removed(
      kind,
      all(kind).filter(({ values }) => keys.includes(String(values.issue))),
    ),
  );

function withProject({ backend_id: key }: PlainValues, all: All): OtherChange[] {
  const issues = all('Issue').filter(({ values }) => values.project === key);
  return [
    ...withIssues(
      all,
      issues.map(({ backend_id }) => backend_id),
    ),
    ...removed('Issue', issues),
  ];
}

const firstNumber = 10_000;

/** Simulation of JIRA (providers.md 3.4). */
export const simulation: Simulation = {
  properties: {
    ProjectTemplate: named(
      [
        'Scrum software development',
        'Kanban software development',
        'Basic software development',
        'Project management',
        'Task management',
      ],
      (name) => ({ description: `Template for ${name.toLowerCase()}.` }),
    ),
    IssueType: named(['Task', 'Bug', 'Story', 'Epic', 'Sub-task'], (name) => ({
      description: '',
      subtask: name === 'Sub-task',
    })),
    Priority: named(['Highest', 'High', 'Medium', 'Low', 'Lowest'], () => ({ description: '' })),
  },
  kinds: {
    Project: {
      id: (_n, _draw, values) => String(values.key),
      rejects: {
        create: (_project, all, { key }) => {
          const namesake = all('Project').find(({ backend_id: taken }) => taken === key);
          return namesake && `Project '${namesake.values.name}' uses this project key.`;
        },
      },
      unmanaged: (n) => ({ key: `SIM${n}`, template_name: '', template_description: '' }),
      otherChanges: { delete: withProject },
    },
    // Issues are numbered by project: WEB-1, WEB-2.
    Issue: {
      id: (_n, draw, { parent }) => `${parent}-${draw.number(`issues of ${parent}`)}`,
      initialValues: (_n, { parent }) => ({
        project: parent,
        status: 'To Do',
        resolution: '',
        resolution_date: null,
        ...person('creator', account),
        ...person('assignee', unassigned),
        ...person('reporter', account),
      }),
      otherChanges: { delete: ({ backend_id: key }, all) => withIssues(all, [String(key)]) },
    },
    Comment: {
      id: (n) => String(firstNumber + n),
      initialValues: (_n, { parent }) => ({ issue: parent, author_username: account.username }),
    },
    Attachment: { id: (n) => String(firstNumber + n), initialValues: (_n, { parent }) => ({ issue: parent }) },
  },
};
