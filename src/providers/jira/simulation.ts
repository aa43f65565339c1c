import type { SimulatedProperty, Simulation } from '../simulation.ts';

const named = (names: readonly string[], describe: (name: string) => Readonly<Record<string, unknown>>): readonly SimulatedProperty[] =>
  names.map((name, i) => ({ backend_id: String(i + 1), name, details: { icon_url: '', ...describe(name) } }));

/** JIRA as the simulator plays it (providers.md 3.4). */
export const simulation: Simulation = {
  properties: {
    ProjectTemplate: named(
      ['Scrum software development', 'Kanban software development', 'Basic software development', 'Project management', 'Task management'],
      (name) => ({ description: `Template for ${name.toLowerCase()}.` }),
    ),
    IssueType: named(['Task', 'Bug', 'Story', 'Epic', 'Sub-task'], (name) => ({ description: '', subtask: name === 'Sub-task' })),
    Priority: named(['Highest', 'High', 'Medium', 'Low', 'Lowest'], () => ({ description: '' })),
  },
  kinds: {
    Project: {
      id: (_n, _draw, values) => String(values.key),
      unmanaged: (n) => ({ key: `SIM${n}`, template_name: '', template_description: '' }),
    },
  },
};
