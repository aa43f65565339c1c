import { askAll, type BenchRequest, headerOf, numberMark, type RecordedAnswer } from './ask.ts';
import { type Person, password, people, tokenOf, usernameOf } from './seed.ts';

/** What the requests of a case are made from. */
export interface World {
  readonly customers: readonly string[];
  readonly projects: readonly string[];
}

/** One thing that is measured. */
export interface Case {
  readonly name: string;
  readonly title: string;
  readonly requests: (world: World) => readonly BenchRequest[];
  /** Parts of the answer that differ from server to server. */
  readonly varying?: RegExp;
  /** Least share of the speed of node:http with the same bytes. */
  readonly ofBare?: number;
  /** Least multiple of the peer's speed. */
  readonly ofPeer?: number;
}

const pages = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => (i === 0 ? '/api/customers/' : `/api/customers/?page=${i + 1}`));
const lists = (person: Person, count: number): BenchRequest[] =>
  pages(count).map((target) => ({ method: 'GET', target, token: tokenOf(person) }));

const staff = tokenOf('staff');

/** The same requests with a parameter that means nothing but makes each new: no server can remember its answer. */
const neverAsked = (requests: readonly BenchRequest[]): BenchRequest[] =>
  requests.map((request) => ({
    ...request,
    target: `${request.target}${request.target.includes('?') ? '&' : '?'}fresh=${numberMark}`,
  }));

const details = ({ customers }: World): BenchRequest[] =>
  customers.map((uuid) => ({ method: 'GET', target: `/api/customers/${uuid}/`, token: staff }));

/** In the order they are measured: what makes a world larger comes last. */
export const cases: readonly Case[] = [
  { name: 'one', title: 'GET one customer', requests: details, ofBare: 0.45 },
  { name: 'one-new', title: 'GET one customer, never asked before', requests: (world) => neverAsked(details(world)) },
  {
    name: 'list-staff',
    title: 'list 10 customers, staff',
    requests: ({ customers }) => lists('staff', Math.min(100, customers.length / 10)),
    ofBare: 0.3,
  },
  {
    name: 'list-owner',
    title: 'list 10 customers, owner of 50',
    requests: () => lists('owner', 5),
    ofBare: 0.3,
    ofPeer: 3,
  },
  {
    name: 'list-owner-new',
    title: 'list 10 customers, owner of 50, never asked before',
    requests: () => neverAsked(lists('owner', 5)),
  },
  {
    name: 'list-member',
    title: 'list customers, member of 3 projects',
    requests: () => lists('member', 1),
    ofBare: 0.3,
  },
  {
    name: 'login',
    title: 'login',
    requests: () =>
      Array.from({ length: 16 }, (_, i) => ({
        method: 'POST',
        target: '/api-auth/password/',
        body: JSON.stringify({ username: usernameOf(people.length + 1 + i), password }),
      })),
    varying: /[0-9a-f]{40}/g,
  },
  {
    name: 'patch',
    title: 'PATCH project',
    requests: ({ projects }) =>
      projects.map((uuid) => ({
        method: 'PATCH',
        target: `/api/projects/${uuid}/`,
        token: staff,
        body: JSON.stringify({ description: `Round ${numberMark}` }),
      })),
  },
  {
    name: 'create',
    title: 'create customer',
    requests: () => [
      {
        method: 'POST',
        target: '/api/customers/',
        token: staff,
        body: JSON.stringify({
          name: `Customer ${numberMark}`,
          native_name: 'Näidis OÜ',
          abbreviation: 'NEW',
          contact_details: 'Narva mnt 5, Tallinn',
          email: 'office@example.com',
          country: 'EE',
        }),
      },
    ],
    varying: /[0-9a-f]{32}|\d{4}-\d\d-\d\dT[\d:.]+Z/g,
    ofPeer: 2,
  },
];

/** Asks both servers for everything in the case; throws unless the bodies and the headers of lists are the same. Answers what was said, by target. */
export async function agreed(
  { requests, title, varying }: Case,
  world: World,
  urls: readonly [tenantry: string, peer: string],
): Promise<Map<string, RecordedAnswer>> {
  const asked = requests(world);
  const [ours, theirs] = (await Promise.all(urls.map((url) => askAll(url, asked)))) as [
    RecordedAnswer[],
    RecordedAnswer[],
  ];
  const told = (answer: RecordedAnswer): string => {
    const link = headerOf(answer, 'Link')
      ?.replaceAll(/[?&]fresh=\d+/g, '')
      .replaceAll('/&', '/?');
    return [
      answer.status,
      headerOf(answer, 'X-Result-Count'),
      link,
      varying ? answer.body.replace(varying, '…') : answer.body,
    ].join('\n');
  };
  asked.forEach((request, i) => {
    const [mine, other] = [told(ours[i] as RecordedAnswer), told(theirs[i] as RecordedAnswer)];
    if (mine === other) return;
    const difference = [...mine].findIndex((character, at) => character !== other[at]);
    const part = (answer: string): string => answer.slice(Math.max(0, difference - 100), difference + 200);
    throw new Error(
      `${title}: ${request.method} ${request.target} is answered differently.\nTenantry: ${part(mine)}\nPeer: ${part(other)}`,
    );
  });
  return new Map(asked.map((request, i) => [request.target, ours[i] as RecordedAnswer]));
}
