import { day, hour } from '../../kernel/clock.ts';
import { present } from '../../kernel/present.ts';
import type { Account } from './accounts.ts';
import { type DemoResource, type Inventory, slug } from './inventory.ts';
import type { TimeMachine } from './time-machine.ts';
import { ownerOf, type Project } from './world.ts';

/** Source code, issue trackers and databases. */
export function planApps(estate: Inventory): void {
  const { dniproDatabases, krakowCode, maarduCode, maarduIssues, osakaIssues, rigaDatabases } = estate.accounts;
  for (const account of [maarduCode, krakowCode]) {
    for (const project of projectsOf(estate, account).slice(0, 3)) code(estate, account, project);
  }
  for (const account of [rigaDatabases, dniproDatabases]) {
    for (const project of projectsOf(estate, account).slice(0, 3)) databases(estate, account, project);
  }
  const [portal, , , , mail] = projectsOf(estate, maarduIssues);
  const [timetable, game] = projectsOf(estate, osakaIssues);
  tracker(estate, maarduIssues, present(portal), 'PORTAL');
  tracker(estate, maarduIssues, present(mail), 'MAIL');
  tracker(estate, osakaIssues, present(timetable), 'TIME');
  tracker(estate, osakaIssues, present(game), 'GAME');
}

const projectsOf = ({ story: { world } }: Inventory, { owner }: Account): readonly Project[] =>
  present(world.organisations[owner ?? -1]).projects;

/** A group with repositories. */
function code(estate: Inventory, account: Account, project: Project): void {
  const { plan, seed } = estate.story;
  const [from, until] = estate.era(account, project);
  const path = slug(project.facts.name);
  const start = plan.between(from, from + (until - from) / 3);
  const group = estate.make({
    account,
    project,
    path: 'gitlab-groups',
    name: project.facts.name,
    at: start,
    fields: () => ({ path }),
  });
  for (const name of ['backend', 'frontend', 'documentation']) {
    const level = seed.pick([0, 10, 20]);
    estate.make({
      account,
      project,
      path: 'gitlab-projects',
      name: `${path}-${name}`,
      at: plan.between(start + 3 * hour, until),
      fields: () => ({
        group: group.url,
        visibility_level: level,
        issues_enabled: true,
        wiki_enabled: name === 'documentation',
      }),
    });
  }
}

function databases(estate: Inventory, account: Account, project: Project): void {
  const { plan } = estate.story;
  const [from, until] = estate.era(account, project);
  for (const [n, name] of ['ledger', 'reports'].entries()) {
    const database = estate.make({
      account,
      project,
      path: 'oracle-databases',
      name: `${name}-${slug(project.facts.name)}`,
      at: plan.between(from, until - 10 * day),
      fields: (past) => ({
        zone: estate.offered(past, account, 'zones', n === 0 ? 'Zone A' : 'Zone B'),
        template: estate.offered(past, account, 'templates', n === 0 ? 'Database large' : 'Database small'),
        username: name,
        password: 'changed-at-first-login',
        backend_database_sid: name.slice(0, 8),
      }),
    });
    if (n === 1) estate.act(database, plan.between(database.made + day, until), 'stop');
  }
}

interface IssueFacts {
  readonly type: string;
  readonly priority: string;
  readonly summary: string;
  readonly comment?: string;
  readonly isResolved?: boolean;
}

const issues: readonly IssueFacts[] = [
  { type: 'Epic', priority: 'High', summary: 'Move to the new cloud' },
  {
    type: 'Bug',
    priority: 'Highest',
    summary: 'Login page is empty after the update',
    comment: 'A restart of the web machine helps for an hour.',
    isResolved: true,
  },
  {
    type: 'Task',
    priority: 'Medium',
    summary: 'Renew the certificate before summer',
    comment: 'Ordered, arrives on Friday.',
  },
  { type: 'Story', priority: 'Low', summary: 'As a visitor I want to change the language' },
];

/** An issue tracker with some issues, one of them with a subtask, and comments. */
function tracker(estate: Inventory, account: Account, project: Project, key: string): void {
  const { plan } = estate.story;
  const [from, until] = estate.era(account, project);
  const start = plan.between(from, from + (until - from) / 3);
  const by = ownerOf(project);
  const jira: DemoResource = estate.make({
    account,
    project,
    path: 'jira-projects',
    name: project.facts.name,
    at: start,
    fields: (past) => ({
      key,
      template: estate.offered(past, account, 'project-templates', 'Scrum software development'),
    }),
  });
  const create = (past: TimeMachine, { priority, summary, type }: IssueFacts, parent?: string): string =>
    past.send('POST', '/api/jira-issues/', {
      by,
      body: {
        jira_project: jira.url,
        summary,
        ...(parent !== undefined && { parent }),
        type: estate.offered(past, account, 'issue-types', type),
        priority: estate.offered(past, account, 'priorities', priority),
      },
    }).url;
  issues.forEach((issue, n) => {
    const at = plan.between(start + 3 * hour, until - day);
    const made = { url: '' };
    plan.at(at, (past) => {
      made.url = create(past, issue);
      // It waits for its issue as long as JIRA needs.
      if (issue.comment !== undefined)
        past.send('POST', '/api/jira-comments/', { by, body: { issue: made.url, message: issue.comment } });
    });
    if (n === 0)
      plan.at(
        at + 2 * hour,
        (past) => void create(past, { type: 'Sub-task', priority: 'Medium', summary: 'Copy the data' }, made.url),
      );
    if (issue.isResolved)
      plan.at(
        at + 5 * hour,
        (past) => void past.send('PATCH', made.url, { by, body: { description: 'Solved by a new session store.' } }),
      );
  });
}
