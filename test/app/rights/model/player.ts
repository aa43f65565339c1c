/** Sends the requests of the model to a server and compares its responses and events with the verdicts. */
import { isDeepStrictEqual } from 'node:util';
import { type ApiResponse, Client, Fixture, type Json, start } from '../../../support/fixture.ts';
import { customerQuotas, emptyState, type Kind, type Settings, type State } from '../model.ts';
import { type Call, describeCall, isLabel, type Link, unreadable } from './call.ts';
import { Random } from './requests.ts';
import { type Shown, seen, seenMember } from './shown.ts';
import { check, type Verdict } from './verdict.ts';

/** A request whose result differs from the model. */
export interface Difference {
  /** Number of calls before it. */
  readonly index: number;
  readonly call: Call;
  readonly about: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** Plays a script against a new server; returns the first difference. */
export async function play(script: readonly Call[], settings: Settings): Promise<Difference | undefined> {
  const fixture = await Fixture.start({ ...settings });
  try {
    const player = new Player(fixture, settings);
    await player.meetAdmin();
    for (const [index, call] of script.entries()) {
      const difference = await player.step(call);
      if (difference) return { index, ...difference };
    }
    return undefined;
  } finally {
    await fixture.close();
  }
}

/** Disable compression: it takes time and does not affect rights. */
const plain = { 'Accept-Encoding': 'identity' };

type Found = Omit<Difference, 'index'> | undefined;

type Comparison = (about: string, expected: unknown, got: unknown) => Found;

class Player {
  readonly #state: State;
  /** Maps labels to uuids or pks, and uuids or `structure/pk` to labels. */
  readonly #keys = new Map<string, string>();
  readonly #labels = new Map<string, string>();
  readonly #clients = new Map<string, Client>();

  constructor(
    private readonly fixture: Fixture,
    settings: Settings,
  ) {
    this.#state = emptyState(Date.parse(start), settings);
    this.#clients
      .set('anonymous', fixture.anonymous)
      .set('forged', new Client(fixture, 'f'.repeat(40)))
      .set('admin', fixture.staff);
  }

  async meetAdmin(): Promise<void> {
    this.#name('admin', (await this.fixture.staff.get('/api/users/?current')).body[0].uuid);
  }

  /** Sends one request. After a change, reads the changed objects. */
  async step(call: Call): Promise<Found> {
    const verdict = check(this.#state, call);
    const difference = await this.#compare(call, verdict);
    if (difference) return difference;
    const hasChanged =
      verdict.status < 300 && !['GET', 'HEAD', 'OPTIONS', 'sign in'].includes(call.method) && call.on !== 'logout';
    const looks = hasChanged
      ? this.#looks(call, verdict.created ?? (call.key as string))
      : call.at % 200 === 0
        ? this.#everything(call)
        : [];
    const verdicts = looks.map((look) => check(this.#state, look));
    const matches = await Promise.all(looks.map((look, index) => this.#compare(look, verdicts[index] as Verdict)));
    return matches.find((one) => one !== undefined);
  }

  /** Staff read the changed object and, if quotas changed, all customers with their quotas. A random user reads the list. */
  #looks(call: Call, key: string): Call[] {
    const look = { at: call.at, wait: 0, method: 'GET', query: { page_size: '300' } } as const;
    const viewer = new Random(call.at).of([...this.#state.users.keys()]);
    const { on } = call;
    const counts = on === 'projects' || on.endsWith('permissions') || call.method === 'DELETE';
    return [
      { ...look, by: 'admin', on, key },
      ...(counts ? [{ ...look, by: 'admin', on: 'customers' }] : []),
      { ...look, by: viewer, on, ...known(on) },
    ];
  }

  /** Staff and a random user read every list. */
  #everything(call: Call): Call[] {
    const kinds: readonly Kind[] = [
      'users',
      'keys',
      'customers',
      'projects',
      'quotas',
      'customer-permissions',
      'project-permissions',
      'customer-permissions-log',
      'project-permissions-log',
    ];
    const look = { at: call.at, wait: 0, method: 'GET', query: { page_size: '300' } } as const;
    const viewer = new Random(call.at).of([...this.#state.users.keys()]);
    return kinds.flatMap((on) => ['admin', viewer].map((by) => ({ ...look, by, on, ...known(on) })));
  }

  async #compare(call: Call, verdict: Verdict): Promise<Found> {
    if (call.method === 'sign in') return void this.#signIn(call.by);
    this.fixture.clock.advance(call.wait / 1000);
    const response = await this.#send(call);
    if (verdict.created !== undefined && response.status === 201) this.#welcome(verdict.created, call, response.body);
    const different: Comparison = (about, expected, got) =>
      isDeepStrictEqual(expected, got) ? undefined : { call, about, expected, got };
    return (
      different('status', verdict.status, response.status) ??
      different(
        'events',
        gathered(verdict.events),
        gathered(this.fixture.events().map((event) => this.#event(event))),
      ) ??
      (call.method === 'HEAD' ? undefined : this.#differentBody(call, verdict, response, different)) ??
      (verdict.list && different('X-Result-Count', String(verdict.list.length), response.headers.get('X-Result-Count')))
    );
  }

  #differentBody(
    { on, tail, method, query }: Call,
    verdict: Verdict,
    { body }: ApiResponse<Json>,
    different: Comparison,
  ): Found {
    const label = (key: string): string => this.#labels.get(key) ?? key;
    const read = (item: Json): Shown => (tail === 'users' ? seenMember(item, label) : seen(on as Kind, item, label));
    if (verdict.body !== undefined) return different('body', verdict.body, withoutParserText(body));
    if (verdict.object) return different('object', verdict.object, read(body));
    if (method === 'OPTIONS') return different('actions', verdict.described, 'actions' in body);
    if (!verdict.list) return different('body', undefined, body);
    const [expected, got] = [byId(verdict.list), byId(body.map(read))];
    if (query?.page_size === '300') return different('list', expected, got);
    return different(
      'page',
      got,
      expected.filter(({ id }) => got.some((item) => item.id === id)),
    );
  }

  #send({ method, on, key, tail, written, query, body, unreadable: broken, by }: Call): Promise<ApiResponse<Json>> {
    const client = this.#clients.get(by) ?? (this.#clients.get('forged') as Client);
    const named = key === undefined ? [] : [written === 'upper' ? this.#key(key).toUpperCase() : this.#key(key)];
    const path =
      on === 'logout' ? '/api-auth/logout' : ['/api', on, ...named, ...(tail === undefined ? [] : [tail])].join('/');
    const requests = Object.entries(query ?? {}).map(([name, value]): [string, string] => [
      name,
      isLabel(value) ? this.#key(value) : value,
    ]);
    const url = `${path}${written === 'bare' ? '' : '/'}?${new URLSearchParams(requests)}`;
    if (broken)
      return client.send(method, url, unreadable[broken].text, { ...plain, 'Content-Type': unreadable[broken].type });
    return client.send(method, url, body && JSON.parse(JSON.stringify(body), (_, value) => this.#linked(value)), plain);
  }

  /** Links of a body as URLs. */
  #linked(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || !('link' in value)) return value;
    const { link, key } = value as Link;
    return `${this.fixture.url}/api/${link}/${this.#key(key)}/`;
  }

  /** Returns the key of a label; for an unknown label, an unknown key. */
  #key(label: string): string {
    return this.#keys.get(label) ?? (!isLabel(label) ? label : label.startsWith('r') ? '999999' : '0'.repeat(32));
  }

  #name(label: string, key: string, unique = key): void {
    this.#keys.set(label, key);
    this.#labels.set(unique, label);
  }

  /** Stores a new object and its quotas by label; issues a token for a user. */
  #welcome(label: string, { on }: Call, body: Json): void {
    if (body.pk !== undefined) {
      this.#name(label, String(body.pk), `${on.split('-')[0]}/${body.pk}`);
      return;
    }
    this.#name(label, body.uuid);
    for (const { name, uuid } of body.quotas ?? []) this.#name(`${label}.${name}`, uuid);
    if (on !== 'users') return;
    this.#clients.set(label, this.fixture.anonymous);
    this.#signIn(label);
  }

  #signIn(label: string): void {
    if (this.#state.users.get(label)?.active) this.#clients.set(label, this.fixture.as(label));
  }

  /** Formats an event as in verdicts. */
  #event({ type, context }: { readonly type: string; readonly context: Readonly<Record<string, string>> }): string {
    const scope = context.project_uuid ?? context.customer_uuid;
    const about = [context.affected_user_uuid, context.ssh_key_uuid, scope].flatMap((uuid) =>
      uuid === undefined ? [] : (this.#labels.get(uuid) ?? uuid),
    );
    const actor =
      context.user_uuid === undefined ? [] : ['by', this.#labels.get(context.user_uuid) ?? context.user_uuid];
    return [type, ...about, ...actor].join(' ');
  }
}

/** The model does not know all quotas: it compares a list of them by name. */
const known = (on: string): Pick<Call, 'query'> =>
  on === 'quotas' ? { query: { page_size: '300', name: customerQuotas[1] } } : {};

const byId = (items: readonly Shown[]): Shown[] => [...items].sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));

/** Events of one type have no defined order. */
function gathered(events: readonly string[]): readonly (readonly string[])[] {
  const runs: string[][] = [];
  for (const event of events) {
    const type = (text: string | undefined): string | undefined => text?.split(' ')[0];
    if (type(runs.at(-1)?.[0]) === type(event)) runs.at(-1)?.push(event);
    else runs.push([event]);
  }
  return runs.map((run) => run.sort());
}

const withoutParserText = (body: Json): unknown =>
  typeof body?.detail === 'string' && body.detail.startsWith('JSON parse error - ')
    ? { detail: 'JSON parse error - …' }
    : body;

/** Formats a difference. */
export const reported = ({ call, about, expected, got }: Difference): string =>
  [describeCall(call), `  expected ${about}: ${JSON.stringify(expected)}`, `  got: ${JSON.stringify(got)}`].join('\n');
