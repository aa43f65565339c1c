import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../fixture.ts';

/*
 * The five services of an OpenStack as far as the faults of a driver need them: objects that are made, listed, shown, changed
 * and deleted as the APIs say, at once; tokens that are demanded; and on demand things go wrong.
 */

/** What goes wrong with a request: it is refused; it is done and its answer is lost, or never comes; it is not done; its answer is no JSON. */
export type Mishap = { readonly status: number; readonly body?: unknown } | 'lost' | 'silence' | 'reset' | 'garbled';

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Asked {
  readonly method: string;
  /** `volume/volumes/<id>/action` */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Json;
}

/** Names of one object by that of its list. */
const singular = (list: string): string => list.replaceAll('-', '_').replace(/s$/, '');

/** What new objects have besides what they were made with. */
const births = (): Record<string, (values: Json) => Json> => ({
  'volume/volumes': ({ imageRef }) => ({
    status: 'available',
    bootable: String(imageRef !== undefined),
    attachments: [],
  }),
  'volume/snapshots': () => ({ status: 'available', size: 1 }),
  'compute/servers': ({ flavorRef }) => ({
    status: 'ACTIVE',
    flavor: { id: flavorRef },
    'OS-EXT-STS:task_state': null,
  }),
  'network/floatingips': () => ({ floating_ip_address: '198.18.0.7', status: 'DOWN', port_id: null }),
  'network/security-groups': () => ({ security_group_rules: [] }),
  'network/ports': ({ fixed_ips: ips = [] }) => ({
    device_id: '',
    fixed_ips: ips.map((ip: Json) => ({ ip_address: '192.168.42.10', ...ip })),
  }),
});

const amount = { limit: 100_000, in_use: 0, used: 0 };
const limits = Object.fromEntries(
  ['instances', 'cores', 'ram', 'volumes', 'snapshots', 'gigabytes', 'network', 'subnet', 'floatingip']
    .concat('security_group', 'security_group_rule')
    .map((name) => [name, amount]),
);

export class OpenStack {
  /** Seconds that a token lives. */
  tokenLife = 3600;
  /** Roles of the administrator; undefined: they are not told. */
  roles: string[] | undefined = ['admin'];
  /** Projects in which the administrator has no role. */
  readonly closed = new Set<string>();
  readonly tokens = new Map<string, string>();
  /** By list; a test may have others born. */
  readonly births = births();
  readonly #lists = new Map<string, Map<string, Json>>();
  readonly #mishaps: { readonly route: string; readonly mishap: Mishap; times: number }[] = [];
  #seen: string[] = [];

  private constructor(
    private readonly server: Server,
    private readonly now: () => number,
  ) {}

  /** `now` are milliseconds since 1970. */
  static async start(now: () => number): Promise<OpenStack> {
    let vendor: OpenStack | undefined;
    const server = createServer((incoming, outgoing) => void vendor?.receive(incoming, outgoing));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    vendor = new OpenStack(server, now);
    vendor.put('identity/projects', { id: 'admin-project', name: 'admin', domain_id: 'default' });
    vendor.put('identity/roles', { id: 'member-role', name: 'member' });
    vendor.put('compute/flavors', { id: 'small', name: 'm1.small', vcpus: 1, ram: 2048, disk: 20 });
    vendor.put('image/images', { id: 'cirros', name: 'cirros', visibility: 'public', status: 'active' });
    return vendor;
  }

  get base(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  /** Lets something go wrong with the next requests to a route, such as `POST volume/volumes`. */
  mishap(route: string, mishap: Mishap, times = 1): void {
    this.#mishaps.push({ route, mishap, times });
  }

  /** The objects of a list, such as `volume/volumes`. */
  all = (list: string): Json[] => [...this.#list(list).values()];

  /** Puts an object there past the API. */
  put(list: string, values: Json): Json {
    const object = { id: randomUUID(), created_at: new Date(this.now()).toISOString(), ...values };
    this.#list(list).set(object.id, object);
    return object;
  }

  /** Methods and paths of the requests since the last call, without their queries. */
  take(): string[] {
    const seen = this.#seen;
    this.#seen = [];
    return seen;
  }

  #list(name: string): Map<string, Json> {
    const known = this.#lists.get(name);
    if (known) return known;
    const list = new Map<string, Json>();
    this.#lists.set(name, list);
    return list;
  }

  private async receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { pathname, searchParams } = new URL(incoming.url ?? '', this.base);
    const method = incoming.method ?? '';
    const text = Buffer.concat(chunks).toString();
    const path = pathname
      .replace(/^\//, '')
      .replace(/^volume\/[^/]+/, 'volume')
      .replace(/\/v2(\.0)?\//, '/')
      .replace(/\/detail$/, '');
    this.#seen.push(`${method} ${path}`);
    const route = `${method} ${path.split('/').slice(0, 2).join('/')}`;
    const planned = this.#mishaps.find(
      (one) => one.times > 0 && (one.route === route || one.route === `${method} ${path}`),
    );
    const mishap = planned?.mishap;
    if (planned) planned.times--;
    if (mishap === 'reset') return void outgoing.socket?.resetAndDestroy();
    const asked: Asked = {
      method,
      parts: path.split('/'),
      query: searchParams,
      body: text === '' ? {} : JSON.parse(text),
    };
    const answer =
      typeof mishap === 'object'
        ? mishap
        : path === 'identity/auth/tokens'
          ? this.#logIn(asked)
          : this.#answer(incoming, asked);
    if (mishap === 'silence') return;
    if (mishap === 'lost') return void outgoing.socket?.resetAndDestroy();
    const { body, headers, status }: Answer = answer;
    outgoing.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    outgoing.end(mishap === 'garbled' ? '<html>' : body === undefined ? '' : JSON.stringify(body));
  }

  #logIn({ body: { auth } }: Asked): Answer {
    const { project } = auth.scope;
    const id = project.id ?? this.all('identity/projects').find(({ name }) => name === project.name)?.id;
    if (auth.identity.password.user.password !== 'right-password' || this.closed.has(id)) return unauthorized;
    const text = `token-${randomUUID()}`;
    this.tokens.set(text, id);
    const service = (type: string, path: string) => ({
      type,
      endpoints: [
        { interface: 'internal', url: 'http://internal.invalid' },
        { interface: 'public', url: this.base + path },
      ],
    });
    const token = {
      issued_at: new Date(0).toISOString(),
      expires_at: new Date(this.tokenLife * 1000).toISOString(),
      user: { id: 'admin-user', domain: { id: 'default' } },
      project: { id },
      ...(this.roles && { roles: this.roles.map((name) => ({ id: `${name}-role`, name })) }),
      catalog: [
        service('compute', '/compute'),
        service('network', '/network'),
        service('image', '/image'),
        service('volumev3', `/volume/${id}`),
      ],
    };
    return { status: 201, body: { token }, headers: { 'X-Subject-Token': text } };
  }

  #answer({ headers }: IncomingMessage, asked: Asked): Answer {
    const project = this.tokens.get(String(headers['x-auth-token']));
    if (project === undefined) return unauthorized;
    const { body, method, parts } = asked;
    const [service, list = '', id, what, more] = parts;
    const path = `${service}/${list}`;
    if (list.endsWith('quotas') || list === 'os-quota-sets')
      return { status: 200, body: { quota_set: limits, quota: limits } };
    if (list === 'os-hypervisors')
      return { status: 404, body: { itemNotFound: { code: 404, message: 'It is not there.' } } };
    if (list === 'projects' && what === 'users' && method === 'PUT') {
      if (more === 'admin-user') this.closed.delete(String(id));
      return { status: 204 };
    }
    if (id === undefined) return method === 'POST' ? this.#create(path, project, body) : this.#page(path, asked);
    const object = this.#list(path).get(id);
    if (!object) return { status: 404, body: { itemNotFound: { code: 404, message: `${id} could not be found.` } } };
    if (what !== undefined) return { status: 200, body: { volumeAttachments: [] } };
    if (method === 'DELETE') this.#list(path).delete(id);
    if (method === 'PUT' || method === 'PATCH') Object.assign(object, body[singular(list)]);
    return method === 'DELETE' ? { status: 204 } : { status: 200, body: { [singular(list)]: object } };
  }

  #create(path: string, project: string, body: Json): Answer {
    const name = singular(path.split('/')[1] ?? '');
    if (path === 'network/security-group-rules') {
      for (const rule of body.security_group_rules)
        this.#list('network/security-groups')
          .get(rule.security_group_id)
          .security_group_rules.push({ id: randomUUID(), ...rule });
      return { status: 201, body: {} };
    }
    const values = body[name];
    if (path.startsWith('identity/') && this.all(path).some((one) => one.name === values.name))
      return { status: 409, body: { error: { code: 409, title: 'Conflict', message: `${values.name} is there.` } } };
    const own = { tenant_id: project, project_id: project, 'os-vol-tenant-attr:tenant_id': project };
    const made = this.put(path, { ...own, ...this.births[path]?.(values), ...values });
    for (const { port } of path === 'compute/servers' ? values.networks : [])
      Object.assign(this.#list('network/ports').get(port), { device_id: made.id, device_owner: 'compute:nova' });
    return { status: 201, body: { [name]: made } };
  }

  /** A page of three objects, with the link to the next one in the ways of the services. */
  #page(path: string, { query }: Asked): Answer {
    const list = path.split('/')[1]?.replaceAll('-', '_') ?? '';
    const known = ['name', 'project_id', 'domain_id', 'network_id', 'device_id', 'visibility', 'description'];
    const filters = [...query].filter(([name]) => known.includes(name));
    const found = this.all(path).filter((one) =>
      filters.every(([name, value]) => String(one[name] ?? '').toLowerCase() === value.toLowerCase()),
    );
    if (!query.has('limit')) return { status: 200, body: { [list]: found } };
    const begin = found.findIndex(({ id }) => id === query.get('marker')) + 1;
    const page = found.slice(begin, begin + 3);
    const next = `?${new URLSearchParams({ ...Object.fromEntries(query), marker: page.at(-1)?.id ?? '' })}`;
    const hasMore = begin + 3 < found.length;
    const link = path.startsWith('image/')
      ? { next }
      : { [`${list}_links`]: [{ rel: 'next', href: this.base + next }] };
    return { status: 200, body: { [list]: page, ...(hasMore && link) } };
  }
}

const unauthorized: Answer = {
  status: 401,
  body: { error: { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' } },
};
