import { createUser } from '../../accounts/users/add.ts';
import { systemContext } from '../../kernel/access/context.ts';
import { day, hour, minute } from '../../kernel/clock.ts';
import { present } from '../../kernel/present.ts';
import { grant, memberships, type Scenario } from './memberships.ts';
import { Plan, span } from './plan.ts';
import type { Seed } from './seed.ts';
import type { Answer, TimeMachine } from './time-machine.ts';
import { type Organisation, ownerOf, type Person, type Project, type World } from './world.ts';

/** A password, and what is kept of it. */
interface Password {
  readonly text: string;
  readonly hash: string;
}

/** Plans two years of the world's history up to now. Everybody has the same password. */
export function planHistory(world: World, now: number, seed: Seed, password: Password): Plan {
  const plan = new Plan(now, seed);
  const story: Scenario = { world, plan, seed };
  team(story, password);
  world.organisations.forEach((organisation, index) => {
    organisation.begins = plan.daysAgo(span - 5 - index * 42 - seed.below(20));
    customer(story, organisation, index);
    organisation.people.forEach((person, position) => {
      person.joined = position === 0 ? organisation.begins + hour : arrival(story, organisation, position);
    });
    for (const [position, project] of organisation.projects.entries()) beginProject(story, project, position);
  });
  world.partners.forEach((person, position) => {
    person.joined = plan.daysAgo(span - 30 - position * 50);
  });
  departures(story);
  for (const person of world.people) {
    if (!world.team.includes(person)) hire(story, person, password);
    life(story, person);
  }
  memberships(story);
  claims(story);
  closedProjects(story);
  move(story);
  return plan;
}

const staff = ({ world, seed }: Scenario): Person => present(world.team[seed.below(2)]);

/** The founder has been made on the command line, and brings in the colleagues. */
function team(story: Scenario, password: Password): void {
  const { plan, world } = story;
  const [first, ...colleagues] = world.team;
  const founder = present(first);
  founder.joined = plan.daysAgo(span);
  plan.at(founder.joined, (past) => {
    const { uuid } = createUser(systemContext(past.app), { username: founder.username, isStaff: true }, password.hash);
    founder.url = `/api/users/${uuid}/`;
  });
  plan.at(founder.joined + 10 * minute, (past) => {
    past.send('PATCH', founder.url, {
      by: founder,
      body: { ...founder.fields, ...founder.profile, agree_with_policy: true, token_lifetime: 7200 },
    });
  });
  colleagues.forEach((person, index) => {
    person.joined = founder.joined + (1 + index) * hour;
    hire(story, person, password, founder, index === 0 ? { is_staff: true } : { is_support: true });
  });
}

/** An account, its password, and what its owner does with it first. */
function hire(story: Scenario, person: Person, { hash, text }: Password, by = staff(story), rights: object = {}): void {
  const { plan } = story;
  plan.at(person.joined, (past) => {
    person.url = past.send('POST', '/api/users/', { by, body: { ...person.fields, ...rights } }).url;
    past.send('POST', `${person.url}password/`, { by, body: { password: text }, prepared: hash });
  });
  plan.at(plan.later(person.joined, 1, 30), (past) => {
    past.send('PATCH', person.url, { by: person, body: { ...person.profile, agree_with_policy: true } });
  });
}

/** People come one after the other over the life of a customer, the last of them lately. */
function arrival({ plan }: Scenario, { begins, people }: Organisation, position: number): number {
  const length = plan.now - 12 * day - begins;
  return plan.between(
    begins + (length * (position - 1)) / people.length + hour,
    begins + (length * position) / people.length,
  );
}

function customer(story: Scenario, organisation: Organisation, index: number): void {
  const { plan } = story;
  const { facts, begins } = organisation;
  const by = staff(story);
  const contact = { email: `office@${facts.domain}`, phone_number: `${facts.callingCode} 555 0${100 + index}` };
  plan.at(begins, (past) => {
    const body = { ...facts.fields, ...contact, agreement_number: 1001 + index };
    const created = past.send<Answer & { quotas: readonly QuotaAnswer[] }>('POST', '/api/customers/', { by, body });
    organisation.url = created.url;
    if (index % 4 === 0) limitProjects(past, by, created.quotas);
  });
  if (index % 2 === 0) {
    plan.at(plan.between(begins + 30 * day, plan.latest), (past) => {
      past.send('PATCH', organisation.url, { by, body: { phone_number: `${facts.callingCode} 555 0${200 + index}` } });
    });
  }
}

interface QuotaAnswer {
  readonly url: string;
  readonly name: string;
}

function limitProjects(past: TimeMachine, by: Person, quotas: readonly QuotaAnswer[]): void {
  const quota = quotas.find(({ name }) => name === 'nc_project_count');
  if (quota) past.send('PATCH', quota.url, { by, body: { limit: 10 } });
}

function beginProject({ plan }: Scenario, project: Project, position: number): void {
  const { facts, organisation } = project;
  const length = (plan.now - 25 * day - organisation.begins) / organisation.projects.length;
  const start = organisation.begins + length * position;
  project.begins = plan.between(start + day, start + Math.max(2 * day, length / 2));
  plan.at(project.begins, (past) => {
    const body = {
      name: facts.formerly ?? facts.name,
      customer: organisation.url,
      description: position % 3 === 0 ? '' : facts.description,
    };
    project.url = past.send('POST', '/api/projects/', { by: ownerOf(project), body }).url;
  });
  if (facts.formerly !== undefined) {
    plan.at(plan.between(project.begins + 5 * day, Math.min(project.begins + 90 * day, plan.latest)), (past) => {
      past.send('PATCH', project.url, { by: ownerOf(project), body: { name: facts.name } });
    });
  }
  if (position % 3 === 0) {
    plan.at(plan.later(project.begins, 20, 200), (past) => {
      past.send('PATCH', project.url, { by: ownerOf(project), body: { description: facts.description } });
    });
  }
}

/** A few accounts are closed, one of them for some days only, and one is deleted. */
function departures(story: Scenario): void {
  const { plan, world } = story;
  const leavers = [1, 4, 7].map((index) => present(world.organisations[index]?.people[9]));
  const traveller = present(world.organisations[2]?.people[9]);
  const forgotten = present(world.partners.at(-1));
  for (const person of [...leavers, traveller]) {
    person.leaves = plan.daysAgo(6);
    plan.at(
      person.leaves,
      (past) => void past.send('PATCH', person.url, { by: staff(story), body: { is_active: false } }),
    );
  }
  plan.at(
    plan.between(traveller.leaves + 20 * hour, plan.latest),
    (past) => void past.send('PATCH', traveller.url, { by: staff(story), body: { is_active: true } }),
  );
  forgotten.leaves = plan.daysAgo(20);
  plan.at(forgotten.leaves, (past) => void past.send('DELETE', forgotten.url, { by: staff(story) }));
}

/** What everybody does: visits, now and then with a mistyped password, and SSH keys. */
function life({ plan, seed, world }: Scenario, person: Person): void {
  const from = person.joined + 32 * hour;
  const until = Math.min(person.leaves, plan.latest);
  const visits = world.team.includes(person) ? 25 : 2 + seed.below(4);
  for (let visit = 0; visit < visits; visit++) {
    const at = plan.between(from, until);
    if (seed.below(12) === 0) plan.at(at - minute, (past) => past.logIn(person, 'wrong'));
    plan.at(at, (past) => past.logIn(person));
    // Whoever leaves meanwhile has been logged out by that.
    if (seed.below(3) === 0 && at + 20 * minute < until) plan.at(at + 20 * minute, (past) => past.logOut(person));
  }
  const keys = seed.pick([0, 1, 1, 1, 2]);
  for (let number = 1; number <= keys; number++) {
    const line = seed.publicKey(`${person.username}@${number === 1 ? 'laptop' : 'workstation'}`);
    const at = plan.between(from, Math.min(from + number * 40 * day, until));
    const key = { url: '' };
    plan.at(at, (past) => {
      key.url = past.send('POST', '/api/keys/', { by: person, body: { public_key: line } }).url;
    });
    if (number === 2 && seed.below(3) === 0)
      plan.at(plan.between(at, until), (past) => void past.send('DELETE', key.url, { by: person }));
  }
}

/** The deprecated way into an organisation: claimed, then approved, rejected, left again or still waiting. */
function claims({ plan, world }: Scenario): void {
  const host = present(world.organisations[0]);
  const owner = present(host.people[0]);
  const claim = (person: Person, decision?: 'approve' | 'reject', leaves = false): void => {
    const at = plan.later(person.joined, 40, 80);
    const act =
      (name: string, by: Person, body = {}) =>
      (past: TimeMachine): void =>
        void past.send('POST', `${person.url}${name}_organization/`, { by, body });
    plan.at(at, act('claim', person, { organization: host.facts.fields.abbreviation }));
    if (decision) plan.at(at + 3 * hour, act(decision, owner));
    if (leaves) plan.at(at + 30 * hour, act('remove', owner));
  };
  claim(present(host.people[5]), 'approve');
  claim(present(host.people[6]), 'approve', true);
  claim(present(host.people[7]));
  claim(present(world.partners[9]), 'reject');
}

/** Two projects have come and gone, and their roles with them. */
function closedProjects(story: Scenario): void {
  const { plan, world } = story;
  for (const [index, name] of [
    [0, 'Proof of concept'],
    [3, 'Migration rehearsal'],
  ] as const) {
    const organisation = present(world.organisations[index]);
    const project: Project = {
      facts: { name, description: 'For a few weeks only.' },
      organisation,
      begins: organisation.begins + 200 * day,
      url: '',
    };
    beginProject(story, project, 1);
    const end = plan.between(project.begins + 40 * day, project.begins + 60 * day);
    grant(story, {
      project,
      person: present(organisation.people[1]),
      role: 'admin',
      at: plan.later(project.begins, 2, 30),
    });
    plan.at(end, (past) => void past.send('DELETE', project.url, { by: ownerOf(project) }));
  }
}

/** A consultant who owns two customers has moved a project from one to the other. */
function move({ plan, world }: Scenario): void {
  const consultant = present(world.partners[0]);
  const project = present(world.organisations[1]?.projects[3]);
  const target = present(world.organisations[2]);
  plan.at(plan.daysAgo(6), (past) => {
    past.send('PATCH', project.url, { by: consultant, body: { customer: target.url } });
    project.organisation = target;
  });
}
