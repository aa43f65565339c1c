/** Random requests. Most are valid and come from callers with access to the addressed objects. */
import { activeRoles, customerQuotas, existing, type Kind, type State, scopeOf } from '../model.ts';
import { type Call, type Link, type Method, unreadable } from './call.ts';
import { writing } from './verdict.ts';

/** Pseudo-random numbers from a seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 up to but excluding 1. */
  next(): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  of<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.next() * choices.length)] as T;
  }
}

const letters: Readonly<Record<Kind, string>> = {
  users: 'u',
  keys: 'k',
  customers: 'c',
  projects: 'p',
  quotas: 'c0.',
  'customer-permissions': 'r',
  'project-permissions': 'r',
  'customer-permissions-log': 'r',
  'project-permissions-log': 'r',
};
const kinds = Object.keys(letters) as Kind[];

/** The minimum and maximum number of objects of a kind. */
const populations: readonly (readonly [kind: Kind, least: number, most: number])[] = [
  ['users', 9, 14],
  ['customers', 4, 7],
  ['projects', 6, 12],
  ['customer-permissions', 4, 9],
  ['project-permissions', 7, 14],
  ['keys', 3, 10],
];

/** Returns the next request of a script that started at an instant, given the current state. */
export function randomCall(random: Random, state: State, at: number, started: number): Call {
  const signedOut = [...state.users.values()]
    .filter(({ active, token }) => active && token !== 'valid')
    .map(({ id }) => id);
  // An invalid token tests little, so its owner signs in again soon.
  if (signedOut.length > 1 && random.chance(0.03))
    return { at, wait: 0, by: random.of(signedOut), method: 'sign in', on: 'users' };
  const step = { at, wait: waiting(random, state, started) };
  // The first user stays signed in to read the changes of others.
  const others = [...state.users.keys()].slice(1);
  if (random.chance(0.01)) return { ...step, by: random.of(['anonymous', ...others]), method: 'POST', on: 'logout' };
  if (random.chance(0.01)) return { ...step, by: callerOf(random, state), method: 'GET', on: 'user-counters' };
  const balance = random.chance(0.5) ? balancing(random, state) : undefined;
  if (balance)
    return { ...step, ...requestOf(random, state, at, balance), ...(balance !== 'POST keys' && { by: 'admin' }) };
  return { ...step, ...requestOf(random, state, at, random.chance(0.45) ? reading(random) : random.of(writing)) };
}

/** Chooses the operation that brings the number of objects closer to its bounds. */
function balancing(random: Random, state: State): string | undefined {
  const wanted = populations.flatMap(([kind, least, most]) => {
    const count = existing(state, kind).length;
    return count < least ? [`POST ${kind}`] : count > most ? [`DELETE ${kind}`] : [];
  });
  return wanted.length > 0 ? random.of(wanted) : undefined;
}

function reading(random: Random): string {
  const method = random.chance(0.8) ? 'GET' : random.of(['HEAD', 'OPTIONS']);
  return method === 'GET' && random.chance(0.3)
    ? `GET ${random.of(['customers', 'projects'])}/${random.of(['users', 'counters'])}`
    : `${method} ${random.of(kinds)}`;
}

/** Generates a request for an operation, `METHOD collection[/tail]`: caller, object and body. */
function requestOf(random: Random, state: State, at: number, operation: string): Omit<Call, 'at' | 'wait'> {
  const [method, path] = operation.split(' ') as [Method, string];
  const [on, tail] = path.split('/') as [Kind, string | undefined];
  const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(method);
  const isOfOne = tail !== undefined || (isRead ? random.chance(0.6) : method !== 'POST');
  const key = isOfOne ? keyOf(random, state, on) : undefined;
  const body = isRead || method === 'DELETE' ? undefined : bodyOf(random, state, at, on, tail, method);
  return {
    by: callerOf(random, state, key ?? scopeIn(body)),
    method,
    on,
    ...(key !== undefined && { key: !isRead && key === 'admin' ? 'u1' : key }),
    ...(tail !== undefined && { tail }),
    ...(random.chance(0.04) && { written: random.of(['upper', 'bare'] as const) }),
    ...(isRead && (!isOfOne || tail === 'users') && { query: queryOf(random, state, isOfOne ? undefined : on) }),
    ...(body &&
      (random.chance(0.02) ? { unreadable: random.of(Object.keys(unreadable)) as keyof typeof unreadable } : { body })),
  };
}

function keyOf(random: Random, state: State, kind: Kind): string {
  // A log also contains roles of the other list, which it must not find.
  const known = existing(state, random.chance(0.9) ? kind : (kind.replace('-log', '') as Kind));
  if (known.length > 0 && random.chance(0.93)) return random.of(known);
  return random.of([`${letters[kind]}999999`, 'abc', '0', 'f'.repeat(31), 'g'.repeat(32), '1e1']);
}

const scopeIn = (body?: Readonly<Record<string, unknown>>): string | undefined =>
  ((body?.customer ?? body?.project) as Link | null | undefined)?.key;

/** Chooses a caller: staff, a user with a role near the addressed object, any user, or none. */
function callerOf(random: Random, state: State, key?: string): string {
  const users = [...state.users.values()];
  const any = users.filter(({ active, token }) => active && token === 'valid').map(({ id }) => id);
  const odds = random.next();
  if (odds < 0.08)
    return random.of(['anonymous', 'forged', ...users.map(({ id }) => id).filter((id) => !any.includes(id))]);
  // Only staff changes the relevant fields of accounts.
  if (odds < (state.users.has(key ?? '') ? 0.5 : 0.25))
    return random.of(users.filter(({ staff, support, id }) => (staff || support) && any.includes(id))).id;
  const owner = state.users.has(key ?? '') ? key : state.keys.get(key ?? '')?.owner;
  const organization = [...state.customers.values()].find(
    ({ abbreviation }) => abbreviation !== '' && abbreviation === state.users.get(key ?? '')?.organization,
  );
  const scope = state.roles.get(key ?? '')?.scope ?? organization?.id ?? scopeOf(key ?? '');
  const customer = state.projects.get(scope)?.customer ?? scope;
  const near = activeRoles(state)
    .filter((role) => role.scope === customer || state.projects.get(role.scope)?.customer === customer)
    .map(({ user }) => user);
  const related = [...near, ...(owner === undefined ? [] : [owner])].filter((id) => any.includes(id));
  return odds < 0.75 && related.length > 0 ? random.of(related) : random.of(any);
}

function queryOf(random: Random, state: State, kind?: Kind): Readonly<Record<string, string>> {
  const sizes = random.chance(0.8)
    ? { page_size: '300' }
    : { page_size: '3', page: random.of(['1', '2', 'last', '5']) };
  if (kind === undefined || (kind !== 'quotas' && random.chance(0.6))) return sizes;
  const key = (of: Kind): string => random.of([...existing(state, of), `${letters[of]}999999`]);
  const filters: Readonly<Partial<Record<Kind, readonly (() => Readonly<Record<string, string>>)[]>>> = {
    users: [
      () => ({ current: '' }),
      () => ({ customer_uuid: key('customers') }),
      () => ({ project_uuid: key('projects') }),
      () => ({ potential: 'true' }),
    ],
    customers: [() => ({ user_uuid: key('users') })],
    quotas: [() => ({ name: random.of(customerQuotas) })],
    projects: [() => ({ customer: key('customers') }), () => ({ can_manage: '' }), () => ({ can_admin: '1' })],
  };
  return { ...sizes, ...random.of(filters[kind] ?? [() => ({})])() };
}

/** One member of a body: its probability, its usual values, and its invalid ones. */
type Member = readonly [presence: number, good: () => unknown, bad: readonly unknown[]];

// This table is long: it has the members of all bodies.
function bodyOf(
  random: Random,
  state: State,
  at: number,
  on: Kind,
  tail: string | undefined,
  method: Method,
): Readonly<Record<string, unknown>> {
  const always = method === 'PATCH' ? 0.6 : 0.97;
  const link = (kind: Kind, not: Kind): Member => [
    always,
    () => ({ link: kind, key: random.of([...existing(state, kind), `${letters[kind]}999999`]) }),
    [null, 7, 'nowhere', { link: not, key: existing(state, not)[0] ?? `${letters[not]}999999` }],
  ];
  const words = (...good: readonly string[]): Member => [
    always,
    () => random.of(good),
    ['', '  ', null, true, 'x'.repeat(151)],
  ];
  const optional = ([, good, bad]: Member): Member => [0.5, good, bad];
  const flag = (presence: number, likely: boolean): Member => [
    presence,
    () => (random.chance(0.75) ? likely : !likely),
    [null, 'perhaps'],
  ];
  const expiry: Member = [0.7, () => expiryOf(random, state), ['tomorrow', 12]];
  const organizations = words('ALPHA', 'BETA', 'GAMMA');
  const members: Readonly<Record<string, Readonly<Record<string, Member>>>> = {
    users: {
      ...(method === 'POST' && {
        username: [always, () => `u${at}`, ['', null, 'not a name', 'ADMIN', 'x'.repeat(31)]],
        // Time passes in these scripts, but they do not cover sliding expiry.
        token_lifetime: [1, () => null, []],
      }),
      full_name: optional(words('Ann', 'Bo', `Name ${at}`)),
      organization: optional(organizations),
      is_staff: flag(0.3, false),
      is_support: flag(0.3, false),
      is_active: flag(0.5, method === 'POST' || random.chance(0.5)),
      ...(method !== 'POST' && { agree_with_policy: flag(0.5, true) }),
    },
    'users/password': { password: [0.8, () => 'secret12', [null, '', 'without digits']] },
    'users/claim_organization': { organization: organizations },
    keys: {
      name: optional(words('laptop', 'desk', '')),
      public_key: [always, () => publicKey(random), ['', null, 'ssh-rsa AAAA', 'no key']],
    },
    customers: { name: words('Alpha', 'Beta', `Customer ${at}`), abbreviation: optional(words('ALPHA', 'BETA', '')) },
    projects: {
      name: words('One', 'Two', `Project ${at}`),
      customer: link('customers', 'projects'),
      description: optional(words('none', 'some')),
    },
    quotas: { limit: [0.9, () => random.of([-1, -1, 0, 1, 2, 3, 4]), [null, 'many', true]] },
    'projects/update_certifications': { certifications: [0.8, () => [], []] },
    'customer-permissions': {
      role: [always, () => random.of(['owner', 'owner', 'support']), ['manager', null]],
      expiration_time: expiry,
      customer: link('customers', 'users'),
      user: link('users', 'customers'),
    },
    'project-permissions': {
      role: [always, () => random.of(['admin', 'manager', 'support']), ['owner', null]],
      expiration_time: expiry,
      project: link('projects', 'customers'),
      user: link('users', 'projects'),
    },
  };
  const wanted = Object.entries(members[tail === undefined ? on : `${on}/${tail}`] ?? {}).filter(([, [presence]]) =>
    random.chance(presence),
  );
  return Object.fromEntries(
    wanted.map(([name, [, good, bad]]) => [name, bad.length > 0 && random.chance(0.03) ? random.of(bad) : good()]),
  );
}

/** Permanent, short and long roles, roles that end with or next to another one, and past ones. */
function expiryOf(random: Random, state: State): string | null {
  const others = activeRoles(state).flatMap(({ expires }) => expires ?? []);
  const ahead = state.now + random.of([1, 1000, 60_000, 600_000, 3_600_000, 86_400_000]);
  const near = others.length > 0 ? random.of(others) + random.of([-1, 0, 0, 1]) : ahead;
  const odds = random.next();
  if (odds < 0.3) return null;
  return new Date(odds < 0.4 ? state.now - random.of([0, 1, 1000]) : odds < 0.75 ? near : ahead).toISOString();
}

/** Chooses one of a few keys, so that some are equal. */
function publicKey(random: Random): string {
  const parts = [Buffer.from('ssh-ed25519'), Buffer.alloc(32, random.of([1, 2, 3, 4, 5]))];
  const content = Buffer.concat(parts.flatMap((part) => [Buffer.from([0, 0, 0, part.length]), part]));
  return `ssh-ed25519 ${content.toString('base64')} ${random.of(['laptop', 'phone', ''])}`.trim();
}

/** Milliseconds until expired tokens would be deleted, which the model omits: 6 of 7 days. */
const longest = 6 * 24 * 3_600_000;

/** Returns the time before a request: none, a little, until the next expiry or just before it, or an hour. */
function waiting(random: Random, state: State, started: number): number {
  const odds = random.next();
  if (odds < 0.8 || state.now - started > longest) return 0;
  if (odds < 0.88) return random.of([1, 500, 1000, 2000]);
  const next = Math.min(...activeRoles(state).flatMap(({ expires }) => expires ?? [])) - state.now;
  if (odds < 0.995) return next < 7_200_000 ? next - random.of([0, 0, 1]) : 0;
  return 3_600_000;
}
