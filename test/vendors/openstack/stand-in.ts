import { randomUUID } from 'node:crypto';
import type { Json } from '../../support/fixture.ts';
import { type RestCall, type RestRoutes, RestTable, toResponse } from '../rest.ts';
import type { Identity, VendorRequest, VendorResponse } from '../server.ts';
import { StandIn } from '../stand-in.ts';
import { computeRoutes } from './compute.ts';
import { networkRoutes } from './network.ts';
import { page, routesOf, type Site } from './objects.ts';
import { Quotas } from './quotas.ts';
import { denial, unauthorized } from './rejection.ts';
import { Setup } from './setup.ts';
import { storageRoutes } from './storage.ts';

/*
 * Imitates the five services of an OpenStack as publicly documented, and stores objects. They share an address: `/identity`,
 * `/compute`, `/network`, `/image` and `/volume`. Rejects requests that it does not know.
 */
export class OpenStack extends StandIn {
  readonly contents: Setup;
  /** Lifetime of a token in seconds. */
  tokenLife = 3600;
  /** Roles of the administrator; undefined: not reported. */
  roles: string[] | undefined = ['admin'];
  password = 'right-password';
  /** Projects in which the administrator has no role. */
  readonly closed = new Set<string>();
  /** Projects by token. */
  readonly tokens = new Map<string, string>();
  readonly #table: RestTable;

  private constructor(now: () => number) {
    super(now);
    this.contents = new Setup(now);
    const site: Site = {
      contents: this.contents,
      project: ({ request }) => this.#project(request),
      url: () => this.server.url,
    };
    const quotas = new Quotas(site);
    this.#table = new RestTable({
      ...this.#identityRoutes(site),
      ...quotas.routes,
      ...computeRoutes(site, quotas),
      ...networkRoutes(site, quotas),
      ...storageRoutes(site, quotas),
      'GET /image/images': (call) => ({
        json: page(site, call, {
          list: 'image/images',
          filters: ['visibility', 'status'],
          matches: this.contents.all('image/images'),
        }),
      }),
    });
  }

  static start = (now: () => number = Date.now, identity?: Identity): Promise<OpenStack> =>
    StandIn.startServer(new OpenStack(now), identity);

  /** Returns a rejection for use as a fault. */
  static denial = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): VendorResponse => {
    const { json } = denial('identity', status, message);
    return toResponse({ status, json, headers });
  };

  /** The address of the identity service, which lists the others. */
  override get url(): string {
    return `${this.server.url}/identity`;
  }

  /** Such as `POST /volume/volumes`. */
  route(request: VendorRequest): string {
    return this.#table.nameOf(withoutVersion(request));
  }

  reply(request: VendorRequest): VendorResponse {
    this.contents.advance();
    return this.#table.response(withoutVersion(request), {
      before: (call) => void (call.request.target === '/identity/auth/tokens' || this.#project(request)),
      unknown: denial('compute', 404, 'The resource could not be found.'),
      unreadable: denial('compute', 400, 'Malformed request body'),
    });
  }

  /** Returns the project of the token of a request. */
  #project({ headers, target }: VendorRequest): string {
    const project = this.tokens.get(String(headers['x-auth-token']));
    if (project === undefined) throw unauthorized();
    const [, named = project] = /^\/volume\/v3\/([^/]+)/.exec(target) ?? [];
    if (named !== project) throw denial('volume', 400, 'Malformed request url');
    return project;
  }

  #logIn({ json: { auth } }: RestCall): { status: number; json: Json; headers: Readonly<Record<string, string>> } {
    const { project: requests } = auth.scope;
    const { name, password } = auth.identity.password.user;
    const projects = this.contents.all('identity/projects');
    const id = requests.id ?? projects.find((one) => one.name === requests.name)?.id;
    if (name !== 'admin' || password !== this.password || this.closed.has(id)) throw unauthorized();
    const text = `token-${randomUUID()}`;
    this.tokens.set(text, id);
    const service = (type: string, path: string): Json => ({
      type,
      endpoints: [
        { interface: 'internal', url: 'http://internal.invalid' },
        { interface: 'public', url: this.server.url + path },
      ],
    });
    const token = {
      issued_at: new Date(0).toISOString(),
      expires_at: new Date(this.tokenLife * 1000).toISOString(),
      user: { id: 'admin-user', domain: { id: 'default' } },
      project: { id },
      ...(this.roles && { roles: this.roles.map((role) => ({ id: `${role}-role`, name: role })) }),
      catalog: [
        service('compute', '/compute/v2.1'),
        service('network', '/network'),
        service('image', '/image'),
        service('volumev3', `/volume/v3/${id}`),
      ],
    };
    return { status: 201, json: { token }, headers: { 'X-Subject-Token': text } };
  }

  #identityRoutes(site: Site): RestRoutes {
    const { contents: setup } = this;
    const requireNew = (list: string, name: string): Json => {
      if (setup.all(list).some((one) => one.name === name)) throw denial('identity', 409, `${name} is there.`);
      return { enabled: true };
    };
    const common = { created: 201, method: 'PATCH' as const, filters: ['domain_id', 'name'] };
    return {
      'POST /identity/auth/tokens': (call) => this.#logIn(call),
      ...routesOf(site, {
        ...common,
        list: 'identity/projects',
        name: 'project',
        parameters: { required: ['name', 'domain_id'], optional: ['description', 'tags'] },
        changes: ['name', 'description'],
        initialValues: ({ name }) => requireNew('identity/projects', name),
        onCreated: ({ id }) => void this.closed.add(id),
        remove: ({ id }) => void setup.remove('identity/projects', id),
      }),
      ...routesOf(site, {
        ...common,
        list: 'identity/users',
        name: 'user',
        parameters: { required: ['name', 'domain_id', 'password'], optional: ['default_project_id', 'enabled'] },
        changes: ['password'],
        initialValues: ({ name }) => requireNew('identity/users', name),
        remove: ({ id }) => void setup.remove('identity/users', id),
        displayed: ({ password: _, ...user }) => user,
      }),
      'GET /identity/roles': (call) => ({
        json: page(site, call, { list: 'identity/roles', filters: ['name'], matches: setup.all('identity/roles') }),
      }),
      'PUT /identity/projects/:project/users/:user/roles/:role': ({ params: { project = '', user } }) => {
        if (user === 'admin-user') this.closed.delete(project);
        return { status: 204 };
      },
    };
  }
}

/** Strips the common prefix of a service from the path of a request. */
function withoutVersion(request: VendorRequest): VendorRequest {
  const target = request.target
    .replace(/^\/volume\/v3\/[^/]+/, '/volume')
    .replace(/^\/(compute|network|image)\/v2(\.\d)?/, '/$1');
  return { ...request, target };
}
