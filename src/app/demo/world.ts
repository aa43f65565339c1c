import { present } from '../../kernel/present.ts';
import organisationFacts from './organisations.json' with { type: 'json' };
import peopleFacts from './people.json' with { type: 'json' };
import type { Seed } from './seed.ts';
import type { Visitor } from './time-machine.ts';

/** What a request of the history creates, with its link. */
export interface Handle {
  url: string;
}

export interface Person extends Visitor, Handle {
  readonly fields: Readonly<Record<'username' | 'full_name' | 'native_name' | 'email' | 'job_title', string>>;
  /** What users add to their profiles themselves. */
  readonly profile: Readonly<Record<'phone_number' | 'preferred_language', string>>;
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

export interface Project extends Handle {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  /** The fields that it begins with. */
  readonly start: Pick<ProjectFacts, 'name' | 'description'>;
  /** Changes when the project moves. */
  organisation: Organisation;
  readonly owner: Person;
  begins: number;
}

export interface Organisation extends Handle {
  /** When it becomes a customer, in the notation of scripts. */
  readonly founded: string;
  /** The fields of the customer, as staff enter them. */
  readonly fields: object;
  readonly contact: Contact;
  /** The first one owns the customer. */
  readonly people: readonly Person[];
  /** In the order in which they begin. */
  readonly projects: readonly Project[];
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
export interface World {
  readonly team: readonly Person[];
  readonly partners: readonly Person[];
  readonly organisations: Readonly<Record<string, Organisation>>;
  /** By username, in the order in which they are listed. */
  readonly people: Readonly<Record<string, Person>>;
}

export function buildWorld(seed: Seed): World {
  const { jobTitles, partners: outside, team: staff } = peopleFacts;
  const team = peopleOf(staff.people, staff.jobTitles, staff.contact, seed);
  const partners = peopleOf(outside.people, outside.jobTitles, outside.contact, seed);
  const organisations = Object.fromEntries(
    Object.entries(organisationFacts).map(([id, { people, projects, ...facts }]) => {
      const titles = facts.fields.is_company ? jobTitles : [];
      const organisation: Organisation & { projects: readonly Project[] } = {
        ...facts,
        people: peopleOf(people, titles, facts.contact, seed),
        projects: [],
        deployKey: { url: '' },
        begins: 0,
        url: '',
      };
      return [id, Object.assign(organisation, { projects: projects.map((each) => projectOf(each, organisation)) })];
    }),
  );
  const all = [...team, ...Object.values(organisations).flatMap(({ people }) => people), ...partners];
  return { team, partners, organisations, people: Object.fromEntries(all.map((each) => [each.username, each])) };
}

export function projectOf(facts: ProjectFacts, organisation: Organisation): Project {
  return {
    ...facts,
    slug: slugOf(facts.name),
    start: { name: facts.formerly ?? facts.name, description: facts.describedLater ? '' : facts.description },
    organisation,
    get owner() {
      return present(this.organisation.people[0]);
    },
    begins: 0,
    url: '',
  };
}

/** People in a fixed order; the position says what job they have. */
const peopleOf = (names: readonly string[], titles: readonly string[], contact: Contact, seed: Seed): Person[] =>
  names.map((name, position) => personOf(name, titles[position] ?? '', contact, seed));

/** A person of a full name, followed by the native name behind a bar where that is written differently. */
function personOf(name: string, job_title: string, { callingCode, domain, language }: Contact, seed: Seed): Person {
  const [full_name = '', native_name = full_name] = name.split(' | ');
  const username = usernameOf(full_name);
  const number = `${seed.below(1000)}`.padStart(3, '0');
  return {
    username,
    address: `${seed.pick(networks)}.${1 + seed.below(254)}`,
    fields: { username, full_name, native_name, email: `${username}@${domain}`, job_title },
    profile: { phone_number: `${callingCode} 555 0${number}`, preferred_language: language ?? 'en' },
    joined: 0,
    leaves: Number.POSITIVE_INFINITY,
    url: '',
  };
}

/** Networks reserved for documentation (RFC 5737). */
const networks = ['192.0.2', '198.51.100', '203.0.113'];

/** Letters that Unicode does not decompose into a base letter and a mark. */
const indivisible: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', æ: 'ae', ß: 'ss', ı: 'i', đ: 'd' };

/** `given.family` in ASCII. */
const usernameOf = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z .-]/g, (letter) => present(indivisible[letter]))
    .replace(/ +/g, '.');

/** A name in the characters that every provider accepts. */
const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
