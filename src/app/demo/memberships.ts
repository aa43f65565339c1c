import { day, hour, isoTime, minute } from '../../kernel/clock.ts';
import { present } from '../../kernel/present.ts';
import type { Plan } from './plan.ts';
import type { Seed } from './seed.ts';
import { type Organisation, ownerOf, type Person, type Project, type World } from './world.ts';

/** What the planning of a history has at hand. */
export interface Scenario {
  readonly world: World;
  readonly plan: Plan;
  readonly seed: Seed;
}

interface Membership {
  readonly person: Person;
  readonly role: string;
  /** When it is granted. */
  readonly at: number;
  /** When it ends by itself. */
  readonly expires?: number;
  /** When it is taken away, or replaced by another role. */
  readonly ends?: number;
  readonly nextRole?: string;
}

const projectRoles = ['admin', 'manager', 'support'] as const;

/** How roles come to an end, in turn; as many as have no divisor in common with the number of roles. */
const fates = [
  'stays',
  'stays',
  'revoked',
  'stays',
  'future',
  'stays',
  'expired',
  'stays',
  'changed',
  'stays',
  'soon',
] as const;

/** Plans every role of the world: those some people are known for, then a share of work for everybody else. */
export function memberships(story: Scenario): void {
  for (const organisation of story.world.organisations) customerRoles(story, organisation);
  partners(story);
  let count = 0;
  for (const organisation of story.world.organisations) {
    const [, second, , manager, administrator, ...others] = organisation.people;
    const [first] = organisation.projects;
    if (manager && first)
      grant(story, { person: manager, project: first, role: 'manager', at: readyIn(story, manager, first) });
    if (administrator && first)
      grant(story, { person: administrator, project: first, role: 'admin', at: readyIn(story, administrator, first) });
    for (const person of second ? [second, ...others] : []) {
      for (const project of someProjects(story, organisation)) assign(story, person, project, count++);
    }
  }
  const { organisations, partners: all } = story.world;
  for (const [index, person] of all.slice(4, 8).entries()) {
    const host = present(organisations[index * 2]);
    assign(story, person, present(host.projects[1]), count++);
  }
}

/** Owner and support of a customer; every other company has a second owner for a limited time. */
function customerRoles(story: Scenario, organisation: Organisation): void {
  const { plan, world } = story;
  const index = world.organisations.indexOf(organisation);
  const [first, second, support] = organisation.people;
  const owner = present(first);
  grant(story, { organisation, person: owner, role: 'owner', at: owner.joined + 20 * minute });
  if (!second || !support) return;
  const at = plan.later(second.joined, 2, 40);
  if (index % 2 === 0) {
    const expires = index % 4 === 0 ? plan.now + (90 + index) * day : plan.between(at + day, plan.latest);
    grant(story, { organisation, person: second, role: 'owner', at, expires });
  }
  const supporting = { organisation, person: support, role: 'support', at: plan.later(support.joined, 2, 40) };
  if (index % 3 === 2) grant(story, { ...supporting, ends: plan.between(supporting.at + day, plan.latest) });
  else grant(story, supporting);
}

/** People who work for several customers, or for none. */
function partners(story: Scenario): void {
  const { plan, world } = story;
  const partner = (index: number): Person => present(world.partners[index]);
  const [consultant, freelancer, guest, auditor] = [partner(0), partner(1), partner(2), partner(3)];
  const hosts = (...indexes: readonly number[]): Organisation[] =>
    indexes.map((index) => present(world.organisations[index]));
  for (const organisation of hosts(0, 1, 2)) {
    grant(story, {
      organisation,
      person: consultant,
      role: 'owner',
      at: plan.later(Math.max(consultant.joined, organisation.begins), 5, 90),
    });
  }
  hosts(3, 4, 5).forEach(({ projects: [project] }, index) => {
    if (project)
      grant(story, {
        project,
        person: freelancer,
        role: present(projectRoles[index]),
        at: readyIn(story, freelancer, project),
      });
  });
  const [host] = hosts(0);
  const visited = present(host?.projects[1]);
  grant(story, { project: visited, person: guest, role: 'support', at: plan.daysAgo(30), expires: plan.now + 3 * day });
  hosts(4, 5, 6).forEach((organisation, index) => {
    const at = plan.later(Math.max(auditor.joined, organisation.begins), 5, 90);
    grant(story, {
      organisation,
      person: auditor,
      role: 'support',
      at,
      ...(index === 2 && { expires: plan.between(at + day, plan.latest) }),
    });
  });
  const forgotten = present(world.partners.at(-1));
  grant(story, {
    project: visited,
    person: forgotten,
    role: 'support',
    at: plan.later(Math.max(forgotten.joined, visited.begins), 5, 90),
  });
}

/** One to three different projects of a customer. */
function someProjects({ seed }: Scenario, { projects }: Organisation): Project[] {
  const first = seed.below(projects.length);
  const count = Math.min(projects.length, 1 + seed.below(3));
  return Array.from({ length: count }, (_, i) => present(projects[(first + i) % projects.length]));
}

/** Gives somebody a role in a project, with the next fate in turn. */
function assign(story: Scenario, person: Person, project: Project, count: number): void {
  const { plan } = story;
  const at = readyIn(story, person, project);
  const role = present(projectRoles[count % 3]);
  const other = present(projectRoles[(count + 1) % 3]);
  const fate = fates[count % fates.length];
  // A closed account is left alone.
  const until = Math.min(person.leaves, plan.latest);
  const ends = plan.between(at + hour, until);
  const fateful =
    fate === 'revoked'
      ? { ends }
      : fate === 'changed'
        ? { ends, nextRole: other }
        : fate === 'expired'
          ? { expires: ends }
          : fate === 'soon'
            ? { expires: plan.now + (2 + (count % 9)) * day }
            : fate === 'future'
              ? { expires: plan.now + (30 + (count % 330)) * day }
              : {};
  grant(story, { project, person, role, at, ...fateful });
}

/** Soon after both the person and the project are there. */
const readyIn = ({ plan }: Scenario, person: Person, project: Project): number =>
  plan.later(Math.max(person.joined, project.begins), 2, 60);

/** Plans one role: staff give those in a customer, owners those in its projects. */
export function grant(
  { plan, world }: Scenario,
  membership: Membership & ({ organisation: Organisation } | { project: Project }),
): void {
  const { person, at, ends, expires, nextRole } = membership;
  const isCustomer = 'organisation' in membership;
  const by = (): Person => (isCustomer ? present(world.team[0]) : ownerOf(membership.project));
  const path = `/api/${isCustomer ? 'customer' : 'project'}-permissions/`;
  const scope = (): object =>
    isCustomer ? { customer: membership.organisation.url } : { project: membership.project.url };
  const permission = { url: '' };
  plan.at(at, (past) => {
    const body = {
      ...scope(),
      user: person.url,
      role: membership.role,
      expiration_time: expires === undefined ? null : isoTime(expires),
    };
    permission.url = past.send('POST', path, { by: by(), body }).url;
  });
  if (ends === undefined) return;
  plan.at(ends, (past) => {
    past.send('DELETE', permission.url, { by: by() });
    if (nextRole !== undefined)
      past.send('POST', path, {
        by: by(),
        body: { ...scope(), user: person.url, role: nextRole, expiration_time: null },
      });
  });
}
