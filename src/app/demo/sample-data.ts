import { present } from '../../kernel/present.ts';
import organisationFacts from './organisations.json' with { type: 'json' };
import groups from './people.json' with { type: 'json' };
import type { Seed } from './seed.ts';
import type { Visitor } from './time-machine.ts';

/** An object that the history creates. */
export interface Handle {
  url: string;
}

export interface Person extends Visitor, Handle {
  /** Fields that staff enter, and fields that users add to their profiles. */
  readonly fields: object;
  readonly profile: object;
  /** When the user is created, and when deactivated or deleted. The history sets both. */
  joined: number;
  leaves: number;
}

interface ProjectFacts {
  readonly name: string;
  /** The original name, if it was renamed. */
  readonly formerly?: string;
  readonly description: string;
  /** Whether the description is added later. */
  readonly describedLater?: boolean;
}

export interface Project extends ProjectFacts, Handle {
  readonly slug: string;
  /** The initial fields. */
  readonly start: object;
  /** Changes when the project moves. */
  organisation: Organisation;
  readonly owner: Person;
  begins: number;
}

export interface Organisation extends Handle {
  /** When it becomes a customer, in script notation. */
  readonly founded: string;
  readonly contact: Contact;
  /** The first person owns the customer. */
  readonly people: readonly Person[];
  /** In order of creation. */
  projects: readonly Project[];
  readonly closedProjects?: readonly string[];
  /** The SSH key of its machines. */
  readonly deployKey: Handle;
  begins: number;
}

interface Contact {
  readonly domain: string;
  readonly callingCode: string;
  readonly language?: string;
}

/** The people and organisations of the sample data, without their history. */
export interface SampleData {
  readonly team: readonly Person[];
  readonly partners: readonly Person[];
  readonly organisations: Readonly<Record<string, Organisation>>;
  /** By username. */
  readonly people: Readonly<Record<string, Person>>;
  /** By name. */
  readonly projects: Readonly<Record<string, Project>>;
}

export function buildSampleData(seed: Seed): SampleData {
  const [team, partners] = [groups.team, groups.partners].map((each) => peopleOf(each, each.jobTitles, seed));
  const organisations = Object.fromEntries(
    Object.entries(organisationFacts).map(([id, { projects, ...facts }]) => {
      const people = peopleOf(facts, facts.fields.is_company ? groups.jobTitles : [], seed);
      const handles = { deployKey: { url: '' }, begins: 0, url: '' };
      const organisation: Organisation = { ...facts, ...handles, people, projects: [] };
      organisation.projects = projects.map((each) => projectOf(each, organisation));
      return [id, organisation];
    }),
  );
  const all = Object.values(organisations);
  const people = [team, ...all.map((each) => each.people), partners].flatMap((each) => present(each));
  return {
    team: present(team),
    partners: present(partners),
    organisations,
    people: Object.fromEntries(people.map((each) => [each.username, each])),
    projects: Object.fromEntries(all.flatMap(({ projects }) => projects.map((each) => [each.name, each]))),
  };
}

export function projectOf(facts: ProjectFacts, organisation: Organisation): Project {
  const { describedLater, description, formerly, name } = facts;
  return {
    ...facts,
    // Providers accept these characters.
    slug: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
    start: { name: formerly ?? name, description: describedLater ? '' : description },
    organisation,
    get owner() {
      return present(this.organisation.people[0]);
    },
    begins: 0,
    url: '',
  };
}

/** Parses people: a full name by username, followed by `|` and the native name if it differs. The position decides the job. */
function peopleOf(
  { contact, people }: { readonly contact: Contact; readonly people: Readonly<Record<string, string>> },
  titles: readonly string[],
  seed: Seed,
): Person[] {
  return Object.entries(people).map(([username, name], position) => {
    const [full_name = '', native_name = full_name] = name.split(' | ');
    const number = `${seed.below(1000)}`.padStart(3, '0');
    const email = `${username}@${contact.domain}`;
    return {
      username,
      address: `${seed.pick(networks)}.${1 + seed.below(254)}`,
      fields: { username, full_name, native_name, email, job_title: titles[position] ?? '' },
      profile: { phone_number: `${contact.callingCode} 555 0${number}`, preferred_language: contact.language ?? 'en' },
      joined: 0,
      leaves: Number.POSITIVE_INFINITY,
      url: '',
    };
  });
}

/** Networks reserved for documentation (RFC 5737). */
const networks = ['192.0.2', '198.51.100', '203.0.113'];
