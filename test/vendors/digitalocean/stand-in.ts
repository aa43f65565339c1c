import { createHash } from 'node:crypto';
import type * as shared from '../server.ts';
import { StandIn } from '../stand-in.ts';
import { type Image, images, type Region, regions, type Size, sizes } from './catalogue.ts';

/*
 * Imitates DigitalOcean's API v2 as publicly documented. Stores created objects. Actions take time, and faults occur on request.
 */

export interface Droplet {
  readonly id: number;
  readonly name: string;
  status: string;
  size: Size;
  /** GiB. */
  disk: number;
  readonly image: Image;
  readonly region: Region;
  readonly created_at: string;
  readonly order: Readonly<Record<string, unknown>>;
}

export interface Action {
  readonly id: number;
  status: 'in-progress' | 'completed' | 'errored';
  readonly type: string;
  readonly started: number;
  completed: number | null;
  readonly droplet: number;
  readonly order: Readonly<Record<string, unknown>>;
}

export interface Key {
  readonly id: number;
  readonly name: string;
  readonly fingerprint: string;
  readonly public_key: string;
}

/** A received request. */
export interface Seen {
  /** `POST /droplets/3164444/actions` */
  readonly line: string;
  readonly authorization: string;
  readonly body: unknown;
}

/** The fault of a request; see test/vendors/server.ts. */
export type Fault = Reply | Exclude<shared.Fault, shared.VendorResponse>;

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Body = Readonly<Record<string, unknown>>;
type Handler = (id: string, body: Body, query: URLSearchParams) => Reply;

const rejection = (status: number, id: string, message: string): Reply => ({ status, body: { id, message } });
const notFound = rejection(404, 'not_found', 'The resource you were accessing could not be found.');
const unprocessable = (message: string): Reply => rejection(422, 'unprocessable_entity', message);

export class DigitalOcean extends StandIn {
  /** Duration of an action in milliseconds. */
  actionTime = 8000;
  /** Maximum number of objects per page. */
  largestPage = 200;
  /** Types of actions that fail. */
  readonly failing = new Set<string>();
  /** The permissions of a token. */
  readonly tokens = new Map<string, 'write' | 'read'>([
    ['full-access', 'write'],
    ['read-only', 'read'],
  ]);
  readonly droplets = new Map<number, Droplet>();
  readonly actions = new Map<number, Action>();
  readonly keys = new Map<number, Key>();
  regions = regions();
  images = images();
  sizes = sizes();
  /** The permissions for the current request. */
  #path = '';
  #lastId = 3_164_443;

  static start = (now: () => number = Date.now, identity?: shared.Identity): Promise<DigitalOcean> =>
    StandIn.startServer(new DigitalOcean(now), identity);

  route(request: shared.VendorRequest): string {
    return this.#find(request).route?.route ?? '';
  }

  override headers(): Readonly<Record<string, string>> {
    return {
      ...super.headers(),
      'Content-Type': 'application/json; charset=utf-8',
      'RateLimit-Limit': '5000',
      'RateLimit-Remaining': '4816',
      'RateLimit-Reset': String(Math.floor(this.now() / 1000) + 3600),
    };
  }

  override get url(): string {
    return `${this.server.url}/v2`;
  }

  /** Injects a fault into the next requests of a route, such as `POST /droplets/:id/actions`. */
  injectFault(route: string, fault: Fault, times = 1): void {
    const isResponse = typeof fault === 'object' && 'status' in fault;
    this.server.injectFault(route, isResponse ? toResponse(fault) : fault, times);
  }

  /** Returns the requests since the last call. */
  take(): Seen[] {
    return this.server
      .take()
      .map(({ headers, method, target, text }) => ({
        line: `${method} ${target.replace(/^\/v2/, '')}`,
        authorization: headers.authorization ?? '',
        body: text === '' ? undefined : JSON.parse(text),
      }));
  }

  /** Creates a droplet without the API, as another user of the account might. */
  order(name: string, status = 'active'): Droplet {
    const droplet = this.#add({ name, size: 's-1vcpu-1gb', image: 'debian-9-x64', region: 'nyc3' });
    droplet.status = status;
    return droplet;
  }

  readonly #routes: readonly { readonly route: string; readonly handle: Handler }[] = [
    {
      route: 'GET /account',
      handle: () => ({
        status: 200,
        body: {
          account: {
            droplet_limit: 25,
            floating_ip_limit: 5,
            email: 'sammy@digitalocean.com',
            uuid: 'b6fr89dbf6d9156cace5f3c78dc9851d957381ef',
            email_verified: true,
            status: 'active',
            status_message: '',
          },
        },
      }),
    },
    { route: 'GET /regions', handle: (_, __, query) => this.#page('regions', this.regions, query) },
    { route: 'GET /images', handle: (_, __, query) => this.#page('images', this.images, query) },
    { route: 'GET /sizes', handle: (_, __, query) => this.#page('sizes', this.sizes, query) },
    { route: 'GET /droplets', handle: (_, __, query) => this.#page('droplets', this.#named(query.get('name')), query) },
    { route: 'POST /droplets', handle: (_, body) => this.#create(body) },
    {
      route: 'GET /droplets/:id',
      handle: (id) =>
        this.#with(id, (droplet) => ({ status: 200, body: { droplet: displayed(droplet, this.#isLocked(droplet)) } })),
    },
    {
      route: 'DELETE /droplets/:id',
      handle: (id) =>
        this.#with(id, ({ id: known }) => {
          this.droplets.delete(known);
          return { status: 204 };
        }),
    },
    {
      route: 'GET /droplets/:id/actions',
      handle: (id, _, query) =>
        this.#with(id, (droplet) => this.#page('actions', this.#actionsOf(droplet).map(shownAction), query)),
    },
    {
      route: 'POST /droplets/:id/actions',
      handle: (id, body) => this.#with(id, (droplet) => this.#act(droplet, body)),
    },
    {
      route: 'GET /actions/:id',
      handle: (id) => {
        const action = this.actions.get(Number(id));
        return action ? { status: 200, body: { action: shownAction(action) } } : notFound;
      },
    },
    { route: 'GET /account/keys', handle: (_, __, query) => this.#page('ssh_keys', [...this.keys.values()], query) },
    { route: 'POST /account/keys', handle: (_, body) => this.#addKey(String(body.name), String(body.public_key)) },
    {
      route: 'GET /account/keys/:id',
      handle: (id) => {
        const key = this.#key(id);
        return key ? { status: 200, body: { ssh_key: key } } : notFound;
      },
    },
    {
      route: 'DELETE /account/keys/:id',
      handle: (id) => {
        const key = this.#key(id);
        if (!key) return notFound;
        this.keys.delete(key.id);
        return { status: 204 };
      },
    },
  ];

  /** Parses the target of a request: the route, and the id in its path. */
  #find({ method, target }: shared.VendorRequest) {
    const requests = new URL(target, this.url).pathname.replace(/^\/v2|\/$/g, '');
    // Actions can also be addressed below their droplet.
    const path = requests.replace(/^\/droplets\/\d+(?=\/actions\/\d)/, '');
    const [, id = ''] = /^\/(?:droplets|actions|account\/keys)\/([^/]+)/.exec(path) ?? [];
    const line = `${method} ${id === '' ? path : path.replace(id, ':id')}`;
    return { id, route: this.#routes.find(({ route }) => route === line) };
  }

  reply(request: shared.VendorRequest): shared.VendorResponse {
    this.#advance();
    this.#path = new URL(request.target, this.url).pathname;
    const { id, route } = this.#find(request);
    const body: Body = request.text === '' ? {} : JSON.parse(request.text);
    const query = new URL(request.target, this.url).searchParams;
    return toResponse(this.#denial(request) ?? route?.handle(id, body, query) ?? notFound);
  }

  #denial({ headers, method }: shared.VendorRequest): Reply | undefined {
    const right = this.tokens.get((headers.authorization ?? '').replace(/^Bearer /, ''));
    if (right === undefined) return rejection(401, 'unauthorized', 'Unable to authenticate you');
    return right === 'read' && method !== 'GET'
      ? rejection(403, 'forbidden', 'You do not have access for the attempted action.')
      : undefined;
  }

  /** Ends actions whose time is over. */
  #advance(): void {
    for (const action of this.actions.values()) {
      if (action.status !== 'in-progress' || this.now() < action.started + this.actionTime) continue;
      action.completed = action.started + this.actionTime;
      action.status = this.failing.has(action.type) ? 'errored' : 'completed';
      const droplet = this.droplets.get(action.droplet);
      if (droplet && action.status === 'completed') this.#effect(droplet, action);
    }
  }

  #effect(droplet: Droplet, { order, type }: Action): void {
    if (type === 'create' || type === 'power_on') droplet.status = 'active';
    if (type === 'shutdown') droplet.status = 'off';
    if (type !== 'resize') return;
    droplet.size = this.sizes.find(({ slug }) => slug === order.size) as Size;
    // The client sends it as a string.
    if (String(order.disk) === 'true') droplet.disk = droplet.size.disk;
  }

  #page(member: string, all: readonly unknown[], query: URLSearchParams): Reply {
    const size = Math.min(Number(query.get('per_page') ?? 20), this.largestPage);
    const page = Number(query.get('page') ?? 1);
    const last = Math.ceil(all.length / size);
    const link = (to: number): string =>
      `${this.server.url}${this.#path}?${new URLSearchParams({ ...Object.fromEntries(query), page: String(to), per_page: String(size) })}`;
    const pages = {
      ...(page > 1 && { first: link(1), prev: link(page - 1) }),
      ...(page < last && { next: link(page + 1), last: link(last) }),
    };
    return {
      status: 200,
      body: {
        [member]: all.slice((page - 1) * size, page * size),
        links: page === 1 && last <= 1 ? {} : { pages },
        meta: { total: all.length },
      },
    };
  }

  #named(name: string | null): unknown[] {
    return [...this.droplets.values()]
      .filter((droplet) => name === null || droplet.name.toLowerCase() === name.toLowerCase())
      .map((droplet) => displayed(droplet, this.#isLocked(droplet)));
  }

  #with(id: string, use: (droplet: Droplet) => Reply): Reply {
    const droplet = this.droplets.get(Number(id));
    return droplet ? use(droplet) : notFound;
  }

  #create(body: Body): Reply {
    if (typeof body.name !== 'string' || !/^[a-zA-Z0-9.-]+$/.test(body.name))
      return unprocessable('Only valid hostname characters are allowed. (a-z, A-Z, 0-9, . and -)');
    if (!this.#imageOf(body.image)) return unprocessable('You specified an invalid image for Droplet creation.');
    const { region, size } = body;
    if (!this.sizes.some(({ slug }) => slug === size))
      return unprocessable('You specified an invalid size for Droplet creation.');
    if (!this.regions.some(({ slug }) => slug === region))
      return unprocessable('You specified an invalid region for Droplet creation.');
    const droplet = this.#add(body);
    const action = this.#begin(droplet, 'create', body);
    return {
      status: 202,
      body: {
        droplet: displayed(droplet, true),
        links: {
          actions: [{ id: action.id, rel: 'create', href: `https://api.digitalocean.com/v2/actions/${action.id}` }],
        },
      },
    };
  }

  #imageOf = (wanted: unknown): Image | undefined =>
    this.images.find(({ id, slug }) => id === wanted || (slug !== null && slug === wanted));

  #add(order: Body): Droplet {
    const size = this.sizes.find(({ slug }) => slug === order.size) as Size;
    const region = this.regions.find(({ slug }) => slug === order.region) as Region;
    const image = this.#imageOf(order.image) as Image;
    const droplet = {
      id: ++this.#lastId,
      name: String(order.name),
      status: 'new',
      size,
      disk: size.disk,
      image,
      region,
      created_at: isoTime(this.now()),
      order,
    };
    this.droplets.set(droplet.id, droplet);
    return droplet;
  }

  #act(droplet: Droplet, body: Body): Reply {
    if (this.#isLocked(droplet)) return unprocessable('Droplet already has a pending event.');
    return { status: 201, body: { action: shownAction(this.#begin(droplet, String(body.type), body)) } };
  }

  #begin(droplet: Droplet, type: string, order: Body): Action {
    const action: Action = {
      id: 36_804_000 + ++this.#lastId,
      status: 'in-progress',
      type,
      started: this.now(),
      completed: null,
      droplet: droplet.id,
      order,
    };
    this.actions.set(action.id, action);
    return action;
  }

  /** Newest first. */
  #actionsOf = (droplet: Droplet): Action[] =>
    [...this.actions.values()].filter((action) => action.droplet === droplet.id).reverse();

  #isLocked = (droplet: Droplet): boolean => this.#actionsOf(droplet).some(({ status }) => status === 'in-progress');

  #key = (id: string): Key | undefined =>
    [...this.keys.values()].find((key) => String(key.id) === id || key.fingerprint === decodeURIComponent(id));

  #addKey(name: string, publicKey: string): Reply {
    const digest = createHash('md5')
      .update(Buffer.from(publicKey.split(/\s+/)[1] ?? '', 'base64'))
      .digest('hex');
    const key = {
      id: ++this.#lastId,
      name,
      public_key: publicKey,
      fingerprint: (digest.match(/../g) as string[]).join(':'),
    };
    if (this.#key(key.fingerprint)) return unprocessable('SSH Key is already in use on your account');
    this.keys.set(key.id, key);
    return { status: 201, body: { ssh_key: key } };
  }
}

/** A response as sent. */
const toResponse = ({ body, ...rest }: Reply): shared.VendorResponse => ({
  ...rest,
  text: body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body),
});

const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');

/** Formats a droplet as the API does. A new droplet has no addresses yet. */
function displayed({ created_at, disk, id, image, name, region, size, status }: Droplet, isLocked: boolean): unknown {
  const host = `${(id >> 8) & 255}.${id & 255}`;
  const v4 = [
    { ip_address: `10.128.${host}`, netmask: '255.255.0.0', gateway: '10.128.0.1', type: 'private' },
    { ip_address: `104.236.${host}`, netmask: '255.255.192.0', gateway: '104.236.0.1', type: 'public' },
  ];
  return {
    id,
    name,
    memory: size.memory,
    vcpus: size.vcpus,
    disk,
    locked: isLocked,
    status,
    kernel: null,
    created_at,
    features: ['virtio'],
    backup_ids: [],
    snapshot_ids: [],
    image,
    volume_ids: [],
    size,
    size_slug: size.slug,
    networks: status === 'new' ? { v4: [], v6: [] } : { v4, v6: [] },
    region,
    tags: [],
  };
}

const shownAction = ({ completed, droplet, id, started, status, type }: Action): unknown => ({
  id,
  status,
  type,
  started_at: isoTime(started),
  completed_at: completed === null ? null : isoTime(completed),
  resource_id: droplet,
  resource_type: 'droplet',
  region: null,
  region_slug: null,
});
