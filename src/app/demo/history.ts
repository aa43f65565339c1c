import { createUser } from '../../accounts/users/add.ts';
import { systemContext } from '../../kernel/access/context.ts';
import { day, hour, minute } from '../../kernel/clock.ts';
import { present } from '../../kernel/present.ts';
import { span } from './plan.ts';
import { type Organisation, type Person, type Project, projectOf, type SampleData } from './sample-data.ts';
import type { Story } from './script.ts';

/** A password, and the hash that the database stores. */
interface Password {
  readonly text: string;
  readonly hash: string;
}

/** Plans two years of users, customers, projects and roles, up to now. All users have the same password. */
export function planHistory(story: Story, data: SampleData, password: Password): void {
  const { plan, seed } = story;
  const organisations = Object.values(data.organisations);
  planTeam(story, data, password);
  for (const organisation of organisations) {
    organisation.begins = story.instant(organisation.founded);
    story.play('new customer', { organisation, by: staffOf(story, data) });
    for (const [position, person] of organisation.people.entries())
      person.joined = position === 0 ? organisation.begins + hour : arrivalOf(story, organisation, position);
    for (const [position, project] of organisation.projects.entries()) planProject(story, project, position);
  }
  for (const [position, person] of data.partners.entries()) person.joined = plan.daysAgo(span - 30 - position * 50);
  // Choose the administrator when the request is sent, not when it is planned.
  const staff = {
    get any() {
      return staffOf(story, data);
    },
  };
  story.play('departures', { staff });
  for (const person of Object.values(data.people)) {
    const isTeam = data.team.includes(person);
    if (!isTeam) story.play('new user', { person, password, by: staffOf(story, data) });
    const from = person.joined + 32 * hour;
    const until = Math.min(person.leaves, plan.latest);
    planVisits(story, person, from, until, isTeam ? 25 : 2 + seed.below(4));
    story.play('SSH keys', { person, from, until });
  }
  for (const organisation of organisations) story.play('customer roles', { organisation });
  story.play('roles of partners');
  planWork(story, organisations, data.partners);
  story.play('claims');
  for (const organisation of organisations)
    for (const name of organisation.closedProjects ?? []) {
      const project = projectOf({ name, description: 'For a few weeks only.' }, organisation);
      planProject(story, project, 1);
      story.play('closed project', { project });
    }
  planMove(story, data);
}

/** One of the two administrators. */
const staffOf = ({ seed }: Story, { team }: SampleData): Person => present(team[seed.below(2)]);

/** Plans the founder, whom the command line creates, and the colleagues whom the founder adds. */
function planTeam(story: Story, { team }: SampleData, password: Password): void {
  const { plan } = story;
  const [first, ...colleagues] = team;
  const founder = present(first);
  founder.joined = plan.daysAgo(span);
  plan.at(founder.joined, (past) => {
    const { uuid } = createUser(systemContext(past.app), { username: founder.username, isStaff: true }, password.hash);
    founder.url = `/api/users/${uuid}/`;
  });
  story.play('founder', { person: founder });
  for (const [index, person] of colleagues.entries()) {
    person.joined = founder.joined + (1 + index) * hour;
    const rights = index === 0 ? { is_staff: true } : { is_support: true };
    story.play('new user', { person, password, by: founder, rights });
  }
}

/** When a person joins a customer. Arrivals spread over the customer's lifetime, the last one recently. */
function arrivalOf({ plan }: Story, { begins, people }: Organisation, position: number): number {
  const length = plan.now - 12 * day - begins;
  const from = begins + (length * (position - 1)) / people.length;
  return plan.between(from + hour, begins + (length * position) / people.length);
}

function planProject(story: Story, project: Project, position: number): void {
  const { plan } = story;
  const { begins, projects } = project.organisation;
  const length = (plan.now - 25 * day - begins) / projects.length;
  const start = begins + length * position;
  project.begins = plan.between(start + day, start + Math.max(2 * day, length / 2));
  story.play('new project', { project });
}

/** Plans the move of a project between two customers of the same owner, a consultant. */
function planMove(story: Story, { organisations }: SampleData): void {
  const { baltijas, nordlicht } = organisations;
  const project = present(nordlicht?.projects[3]);
  const moved = story.plan.daysAgo(6);
  story.play('move', { moved });
  story.plan.at(moved, () => {
    project.organisation = present(baltijas);
  });
}

/** Plans logins, some after a mistyped password, and logouts. */
function planVisits({ plan, seed }: Story, person: Person, from: number, until: number, count: number): void {
  for (let visit = 0; visit < count; visit++) {
    const at = plan.between(from, until);
    if (seed.below(12) === 0) plan.at(at - minute, (past) => past.logIn(person, 'wrong'));
    plan.at(at, (past) => past.logIn(person));
    // Deactivation already logs users out.
    if (seed.below(3) === 0 && at + 20 * minute < until) plan.at(at + 20 * minute, (past) => past.logOut(person));
  }
}

const projectRoles = ['admin', 'manager', 'support'] as const;

/** How roles end, in rotation. The numbers of outcomes and roles are coprime, so that all combinations occur. */
const outcomes = [
  ...[{}, {}, { ends: 'end' }, {}, { expires: 'now + {late}d' }, {}],
  ...[{ expires: 'end' }, {}, { ends: 'end', next: '{nextRole}' }, {}, { expires: 'now + {soon}d' }],
];

/** Plans the roles in projects: the leaders first, then a share of the work for everyone else. */
function planWork(story: Story, organisations: readonly Organisation[], partners: readonly Person[]): void {
  const { seed } = story;
  let count = 0;
  const assign = (person: Person, project: Project | undefined): void => {
    const [role, nextRole] = [count, count + 1].map((number) => projectRoles[number % projectRoles.length]);
    const outcome = outcomes[count % outcomes.length];
    story.play('work', { person, project, role, nextRole, outcome, soon: 2 + (count % 9), late: 30 + (count % 330) });
    count++;
  };
  for (const organisation of organisations) {
    const { people, projects } = organisation;
    story.play('leading roles', { organisation });
    for (const person of people.filter((_, position) => position === 1 || position > 4)) {
      const first = seed.below(projects.length);
      const projectCount = Math.min(projects.length, 1 + seed.below(3));
      for (let n = first; n < first + projectCount; n++) assign(person, projects[n % projects.length]);
    }
  }
  for (const [index, person] of partners.slice(4, 8).entries()) assign(person, organisations[index * 2]?.projects[1]);
}
