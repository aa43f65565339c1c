import { askAll, type BenchRequest, headerOf, numberMark, type RecordedResponse } from './ask.ts';
import { type Person, password, people, tokenOf, usernameOf } from './seed.ts';

/** The data of a case's requests. */
export interface Sample {
  readonly customers: readonly string[];
  readonly projects: readonly string[];
  /** Every customer. */
  readonly all: readonly string[];
  /** Customers of each user of the crowd, who owns them. */
  readonly owned: readonly { readonly user: number; readonly customers: readonly string[] }[];
}

/** A measured kind of request. */
export interface Case {
  readonly name: string;
  readonly title: string;
  readonly requests: (sample: Sample) => readonly BenchRequest[];
  /** Whether to send each request once, in order, which needs a large database; default: random requests, repeatedly. */
  readonly isOnce?: boolean;
  /** Parts of the response that differ between servers. */
  readonly varying?: RegExp;
  /** Minimum share of the speed of node:http with the same bytes. */
  readonly ofBare?: number;
  /** Minimum multiple of the peer's speed. */
  readonly ofPeer?: number;
  /** Minimum speed on the largest database as a share of that on the smallest (growth.ts); default: about three quarters. */
  readonly ofSmaller?: number;
}

const pages = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => (i === 0 ? '/api/customers/' : `/api/customers/?page=${i + 1}`));
const lists = (person: Person, count: number): BenchRequest[] =>
  pages(count).map((target) => ({ method: 'GET', target, token: tokenOf(person) }));

const staff = tokenOf('staff');

/** The same requests with a meaningless parameter that makes each URL new, so that no server can cache the response. */
export const fresh = (requests: readonly BenchRequest[]): BenchRequest[] =>
  requests.map((request) => ({
    ...request,
    target: `${request.target}${request.target.includes('?') ? '&' : '?'}fresh=${numberMark}`,
  }));

const details = ({ customers }: Sample): BenchRequest[] =>
  customers.map((uuid) => ({ method: 'GET', target: `/api/customers/${uuid}/`, token: staff }));

const change = ({ projects }: Sample): BenchRequest[] =>
  projects.map((uuid) => ({
    method: 'PATCH',
    target: `/api/projects/${uuid}/`,
    token: staff,
    body: JSON.stringify({ description: `Round ${numberMark}` }),
  }));

export const creation: BenchRequest = {
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
};
const recreated = /[0-9a-f]{32}|\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/**
 * Reads of a crowd: each user reads their customers and the list of them. At regular intervals staff write: they change a project, and every third
 * time they create a customer.
 */
function mixed(sample: Sample, share: number): BenchRequest[] {
  const reads = sample.owned.flatMap(({ customers, user }): BenchRequest[] => {
    const token = tokenOf(user);
    const own = customers
      .slice(0, 4)
      .map((uuid): BenchRequest => ({ method: 'GET', target: `/api/customers/${uuid}/`, token }));
    return [...own, ...own.map((): BenchRequest => ({ method: 'GET', target: '/api/customers/', token }))];
  });
  const changes = change(sample);
  const count = Math.round((reads.length * share) / (1 - share));
  const writes = Array.from({ length: count }, (_, i) => (i % 3 === 2 ? creation : changes[i % changes.length])).filter(
    (request) => request !== undefined,
  );
  return [...reads, ...writes];
}

/**
 * In the order of measurement. Cases that enlarge the database come last. "Fresh": the server has cached the objects, but not the
 * URL.
 */
export const cases: readonly Case[] = [
  {
    name: 'first',
    title: 'GET one customer, first time since start',
    requests: ({ all }) => all.map((uuid) => ({ method: 'GET', target: `/api/customers/${uuid}/`, token: staff })),
    isOnce: true,
    ofPeer: 0.95,
  },
  { name: 'one', title: 'GET one customer, warm', requests: details, ofBare: 0.45 },
  {
    name: 'one-fresh',
    title: 'GET one customer, fresh address',
    requests: (sample) => fresh(details(sample)),
    ofBare: 0.6,
    ofPeer: 3,
    ofSmaller: 0.9,
  },
  {
    name: 'list-staff',
    title: 'list 10 customers, staff, warm',
    requests: ({ customers }) => lists('staff', Math.min(100, customers.length / 10)),
    ofBare: 0.3,
  },
  {
    name: 'list-staff-fresh',
    title: 'list 10 customers, staff, fresh address',
    requests: ({ customers }) => fresh(lists('staff', Math.min(100, customers.length / 10))),
    ofPeer: 4,
    ofSmaller: 0.9,
  },
  {
    name: 'list-owner',
    title: 'list 10 customers, owner of 50, warm',
    requests: () => lists('owner', 5),
    ofBare: 0.3,
    ofPeer: 3,
  },
  {
    name: 'list-owner-fresh',
    title: 'list 10 customers, owner of 50, fresh address',
    requests: () => fresh(lists('owner', 5)),
    ofBare: 0.3,
    ofPeer: 12,
    ofSmaller: 0.9,
  },
  {
    name: 'list-member',
    title: 'list customers, member of 3 projects, warm',
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
    name: 'mixed-99',
    title: '99 % reads by 100 owners, 1 % writes',
    requests: (sample) => mixed(sample, 0.01),
    varying: recreated,
    ofPeer: 3.5,
    ofSmaller: 0.9,
  },
  {
    name: 'mixed-90',
    title: '90 % reads by 100 owners, 10 % writes',
    requests: (sample) => mixed(sample, 0.1),
    varying: recreated,
    ofPeer: 2.5,
    ofSmaller: 0.9,
  },
  { name: 'patch', title: 'PATCH project', requests: change, ofPeer: 2, ofSmaller: 0.9 },
  {
    name: 'create',
    title: 'create customer',
    requests: () => [creation],
    varying: recreated,
    ofPeer: 3,
    ofSmaller: 0.9,
  },
];

/** More cases for growth.ts: no response comes from a cache, because an object is created before each request. */
export const further: readonly Case[] = [
  {
    name: 'list-after',
    title: 'list 10 customers, staff, half of the time after a creation',
    requests: () => [creation, ...fresh(lists('staff', 1))],
    ofSmaller: 0.9,
  },
  {
    name: 'name-after',
    title: 'customers by a part of their name, half of the time after a creation',
    requests: () => [creation, ...fresh([{ method: 'GET', target: '/api/customers/?name=Robotics', token: staff }])],
  },
  {
    name: 'last-page',
    title: 'last page of all customers, fresh address',
    requests: () => fresh([{ method: 'GET', target: '/api/customers/?page=last', token: staff }]),
  },
];

/**
 * Sends all requests of the case to both servers. Throws unless bodies and list headers are equal. Returns the responses by
 * method and target.
 */
export async function agreed(
  { isOnce, requests, title, varying }: Case,
  sample: Sample,
  urls: readonly [tenantry: string, peer: string],
): Promise<Map<string, RecordedResponse>> {
  // For cases that measure first requests, compare only the last hundred, so that the others stay first requests.
  const sent = isOnce ? requests(sample).slice(-100) : requests(sample);
  const [ours, theirs] = (await Promise.all(urls.map((url) => askAll(url, sent)))) as [
    RecordedResponse[],
    RecordedResponse[],
  ];
  const comparable = (response: RecordedResponse): string => {
    const link = headerOf(response, 'Link')
      ?.replaceAll(/[?&]fresh=\d+/g, '')
      .replaceAll('/&', '/?');
    return [
      response.status,
      headerOf(response, 'X-Result-Count'),
      link,
      varying ? response.body.replace(varying, '…') : response.body,
    ].join('\n');
  };
  sent.forEach((request, i) => {
    const [mine, other] = [comparable(ours[i] as RecordedResponse), comparable(theirs[i] as RecordedResponse)];
    if (mine === other) return;
    const difference = [...mine].findIndex((character, at) => character !== other[at]);
    const part = (response: string): string => response.slice(Math.max(0, difference - 100), difference + 200);
    throw new Error(
      `${title}: ${request.method} ${request.target} has different responses.\nTenantry: ${part(mine)}\nPeer: ${part(other)}`,
    );
  });
  return new Map(sent.map((request, i) => [`${request.method} ${request.target}`, ours[i] as RecordedResponse]));
}
