import { present } from '../../kernel/present.ts';
import { jobTitles, type Name, namesAt, otherJobTitles, type Place } from './names.ts';
import { type OrganisationFacts, organisations, type ProjectFacts } from './organisations.ts';
import type { Seed } from './seed.ts';
import type { Visitor } from './time-machine.ts';

/** Somebody with an account. */
export interface Person extends Visitor {
  readonly fields: Readonly<Record<'username' | 'full_name' | 'native_name' | 'email' | 'job_title', string>>;
  /** What they add to their profile themselves. */
  readonly profile: Readonly<Record<'phone_number' | 'preferred_language', string>>;
  /** When the account was created, and when they leave; instants that the history sets. */
  joined: number;
  leaves: number;
  /** Their link in the API. */
  url: string;
}

export interface Project {
  readonly facts: ProjectFacts;
  /** Changes when the project moves. */
  organisation: Organisation;
  begins: number;
  url: string;
}

export interface Organisation {
  readonly facts: OrganisationFacts;
  /** The first one owns it. */
  readonly people: readonly Person[];
  readonly projects: readonly Project[];
  begins: number;
  url: string;
}

/** Everybody and everything in the demonstration world, before it has a history. */
export interface World {
  readonly team: readonly Person[];
  readonly partners: readonly Person[];
  readonly organisations: readonly Organisation[];
  readonly people: readonly Person[];
  readonly projects: readonly Project[];
}

/** Networks for documentation (RFC 5737): addresses that belong to nobody. */
const networks = ['192.0.2', '198.51.100', '203.0.113'];

/** Builds the world that goes with a seed. */
export function buildWorld(seed: Seed): World {
  const team = peopleAt('team', otherJobTitles.team, { domain: 'tenantry.example', callingCode: '+372' }, seed);
  const partners = peopleAt(
    'partners',
    otherJobTitles.partners,
    { domain: 'partners.example.net', callingCode: '+44' },
    seed,
  );
  const list = organisations.map((facts) => organisationOf(facts, seed));
  return {
    team,
    partners,
    organisations: list,
    people: [...team, ...list.flatMap(({ people }) => people), ...partners],
    projects: list.flatMap(({ projects }) => projects),
  };
}

function organisationOf(facts: OrganisationFacts, seed: Seed): Organisation {
  const titles = facts.fields.is_company ? jobTitles : [];
  const organisation: Organisation = {
    facts,
    people: peopleAt(facts.place, titles, facts, seed),
    projects: [],
    begins: 0,
    url: '',
  };
  const projects = facts.projects.map((project) => ({ facts: project, organisation, begins: 0, url: '' }));
  return Object.assign(organisation, { projects });
}

type Contact = Pick<OrganisationFacts, 'domain' | 'callingCode' | 'language'>;

const peopleAt = (place: Place, titles: readonly string[], contact: Contact, seed: Seed): Person[] =>
  namesAt(place).map((name, position) => personOf(name, titles[position] ?? '', contact, seed));

function personOf(
  { full, native, username }: Name,
  jobTitle: string,
  { domain, callingCode, language = 'en' }: Contact,
  seed: Seed,
): Person {
  const number = `${seed.below(1000)}`.padStart(3, '0');
  return {
    username,
    address: `${seed.pick(networks)}.${1 + seed.below(254)}`,
    fields: { username, full_name: full, native_name: native, email: `${username}@${domain}`, job_title: jobTitle },
    profile: { phone_number: `${callingCode} 555 0${number}`, preferred_language: language },
    joined: 0,
    leaves: Number.POSITIVE_INFINITY,
    url: '',
  };
}

/** Who owns the customer that a project belongs to. */
export const ownerOf = (project: Project): Person => present(project.organisation.people[0]);
