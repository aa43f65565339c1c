import { present } from '../../kernel/present.ts';
import organisationFacts from './organisations.json' with { type: 'json' };
import groups from './people.json' with { type: 'json' };
import type { Seed } from './seed.ts';
import type { Visitor } from './time-machine.ts';

/** An object that the history creates, with its link. */
export interface Handle {
  url: string;
}

export interface Person extends Visitor, Handle {
  /** Fields entered by staff, and fields that users add to their own profiles. */
  readonly fields: object;
  readonly profile: object;
  /** When the account is created, and when it is deactivated or deleted; the history sets both. */
  joined: number;
  leaves: number;
}

interface ProjectFacts {
  readonly name: string;
  /** The name under which it began. */
  readonly formerly?: string;
  readonly description: string;
  /** Whether it began without its description. */
  readonly describedLater?: boolean;
}

export interface Project extends ProjectFacts, Handle {
  readonly slug: string;
  /** The fields that it begins with. */
  readonly start: object;
  /** Changes when the project moves. */
  organisation: Organisation;
  readonly owner: Person;
  begins: number;
}

export interface Organisation extends Handle {
  /** When it becomes a customer, in the notation of scripts. */
  readonly founded: string;
  readonly contact: Contact;
  /** The first one owns the customer. */
  readonly people: readonly Person[];
  /** In the order in which they begin. */
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

/** The people and organisations of the sample data, before they have a history. */
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

/** People by username, with the full name and, behind a bar, the native name if it is different; the position decides the job. */
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
