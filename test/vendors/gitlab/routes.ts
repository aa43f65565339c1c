import type { Json } from '../../support/fixture.ts';
import { checkNames, type RestCall, RestRejection, type RestResponse, type RestRoutes } from '../rest.ts';
import { type Group, owner, type Project, reporter, type Setup, type User } from './setup.ts';

/* The calls of GitLab's API v4 that a driver or client uses, as documented. */

/** What routes need from the stand-in. */
export interface Site {
  readonly contents: Setup;
  readonly url: string;
  readonly largestPage: number;
  /** The caller. */
  readonly caller: (call: RestCall) => User;
}

const visibilities = ['private', 'internal', 'public'];
const features = ['wiki', 'issues', 'snippets', 'merge_requests'].map((name) => `${name}_enabled`);

/** Rejects unknown and missing parameters. */
function require({ json = {}, query }: RestCall, required: readonly string[], optional: readonly string[] = []): void {
  const input = { ...Object.fromEntries(query), ...json };
  const { missing, unknown } = checkNames(input, { required, optional: [...optional, 'page', 'per_page'] });
  if (missing.length > 0)
    throw new RestRejection(400, { error: missing.map((name) => `${name} is missing`).join(', ') });
  if (unknown.length > 0)
    throw new RestRejection(400, { error: unknown.map((name) => `${name} is invalid`).join(', ') });
}

const forbidden = (): RestRejection => new RestRejection(403, { message: '403 Forbidden' });
const instant = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** Parses a boolean of the query, which clients format in several ways. */
const flag = ({ query }: RestCall, name: string): string | undefined => query.get(name)?.toLowerCase();

export function routes(site: Site): RestRoutes {
  const { caller, contents: setup } = site;

  /** Returns a page of a list, with the headers about other pages. */
  function page({ query, request }: RestCall, all: readonly unknown[], isCounted = true): RestResponse {
    const size = Math.min(Number(query.get('per_page') ?? 20), site.largestPage);
    const number = Number(query.get('page') ?? 1);
    const last = Math.max(1, Math.ceil(all.length / size));
    const next = number < last ? String(number + 1) : '';
    const link = new URL(request.target, site.url);
    link.searchParams.set('page', next);
    return {
      json: all.slice((number - 1) * size, number * size),
      headers: {
        'X-Page': String(number),
        'X-Per-Page': String(size),
        'X-Next-Page': next,
        'X-Prev-Page': number > 1 ? String(number - 1) : '',
        ...(isCounted && { 'X-Total': String(all.length), 'X-Total-Pages': String(last) }),
        ...(next !== '' && { Link: `<${link}>; rel="next"` }),
      },
    };
  }

  const shownGroup = ({ created, description, removalTime, id, name, path }: Group): Json => ({
    id,
    name,
    path,
    description,
    visibility: 'private',
    full_name: name,
    full_path: path,
    web_url: `${site.url}/groups/${path}`,
    created_at: instant(created),
    parent_id: null,
    marked_for_deletion_on: removalTime === undefined ? null : instant(removalTime).slice(0, 10),
  });

  const shownProject = (project: Project, hasStatistics = false): Json => ({
    id: project.id,
    name: project.name,
    path: project.path,
    description: project.description,
    path_with_namespace: `${project.group.path}/${project.path}`,
    visibility: project.visibility,
    ...project.features,
    namespace: { id: project.group.id, kind: 'group', path: project.group.path, full_path: project.group.path },
    web_url: `${site.url}/${project.group.path}/${project.path}`,
    http_url_to_repo: `${site.url}/${project.group.path}/${project.path}.git`,
    ssh_url_to_repo: `git@${new URL(site.url).hostname}:${project.group.path}/${project.path}.git`,
    created_at: instant(project.created),
    marked_for_deletion_at: project.removalTime === undefined ? null : instant(project.removalTime).slice(0, 10),
    ...(hasStatistics && { statistics: { commit_count: project.commits } }),
  });

  const shownUser = ({ email, id, name, username }: User, toAdmin: boolean): Json => ({
    id,
    username,
    name,
    state: 'active',
    public_email: '',
    ...(toAdmin && { email }),
  });

  const matches = (search: string | null, ...texts: string[]): boolean =>
    search === null || texts.some((text) => text.toLowerCase().includes(search.toLowerCase()));

  const place = ({ params: { id = '', place: kind } }: RestCall): Group | Project =>
    kind === 'groups' ? setup.group(id) : setup.project(id);

  function requireOwner(call: RestCall, object: Group | Project): void {
    if (setup.levelOf(caller(call), object) < owner) throw forbidden();
  }

  return {
    'GET /user': (call) => ({ json: shownUser(caller(call), true) }),

    'GET /users': (call) => {
      require(call, [], ['search']);
      const { isAdmin } = caller(call);
      const search = call.query.get('search');
      const hits = [...setup.users.values()].filter(({ email, name, username }) =>
        matches(search, name, username, ...(isAdmin ? [email] : [])),
      );
      return page(
        call,
        hits.map((user) => shownUser(user, isAdmin)),
      );
    },

    'POST /users': (call) => {
      require(call, ['email', 'username', 'name'], ['reset_password', 'password', 'skip_confirmation']);
      if (!caller(call).isAdmin) throw forbidden();
      const { email, name, password, reset_password: isReset, username } = call.json;
      if (password === undefined && isReset !== true)
        throw new RestRejection(400, {
          error: 'password, reset_password, force_random_password are missing, at least one parameter must be provided',
        });
      if (!/^[a-zA-Z0-9_][\w.-]*$/.test(username) || /\.(git|atom)$|\.$/.test(username))
        throw new RestRejection(400, {
          message: { username: ["can contain only letters, digits, '_', '-' and '.'."] },
        });
      const users = [...setup.users.values()];
      for (const [what, taken] of [
        ['Email', users.some((user) => user.email === email)],
        ['Username', users.some((user) => user.username === username)],
      ] as const)
        if (taken) throw new RestRejection(409, { message: `${what} has already been taken` });
      return { status: 201, json: shownUser(setup.addUser({ email, name, username }), true) };
    },

    'GET /groups': (call) => {
      require(call, [], ['search', 'all_available', 'owned', 'statistics']);
      const user = caller(call);
      const isWide = flag(call, 'all_available') !== 'false' && user.isAdmin;
      const hits = [...setup.groups.values()].filter(
        (group) =>
          (isWide || setup.levelOf(user, group) > 0) &&
          (group.removalTime === undefined || setup.marksDeleted) &&
          matches(call.query.get('search'), group.name, group.path),
      );
      return page(call, hits.map(shownGroup));
    },

    'POST /groups': (call) => {
      require(call, ['name', 'path'], ['description', 'visibility']);
      const { description = '', name, path } = call.json;
      if (!/^[\w.-]+$/.test(path) || /^-|\.$/.test(path))
        throw new RestRejection(400, {
          message: `Failed to save group {:path=>["can contain only letters, digits, '_', '-' and '.'."]}`,
        });
      if ([...setup.groups.values()].some((group) => group.path === path))
        throw new RestRejection(400, { message: 'Failed to save group {:path=>["has already been taken"]}' });
      return { status: 201, json: shownGroup(setup.addGroup(caller(call), { name, path, description })) };
    },

    'GET /groups/:id': (call) => {
      require(call, [], ['with_projects']);
      return { json: shownGroup(setup.group(call.params.id ?? '')) };
    },

    'GET /projects': (call) => {
      require(call, [], ['search', 'membership', 'owned', 'statistics']);
      const user = caller(call);
      const isMine = flag(call, 'membership') === 'true';
      const hits = [...setup.projects.values()].filter(
        (project) =>
          (!isMine || setup.levelOf(user, project) > 0) &&
          (project.removalTime === undefined || setup.marksDeleted) &&
          matches(call.query.get('search'), project.name, project.path),
      );
      return page(
        call,
        hits.map((project) => shownProject(project)),
      );
    },

    'POST /projects': (call) => {
      require(call, ['name'], ['path', 'description', 'namespace_id', 'visibility', ...features]);
      const { description = '', name, namespace_id: id, visibility = 'private', ...rest } = call.json;
      if (!visibilities.includes(visibility))
        throw new RestRejection(400, { error: 'visibility does not have a valid value' });
      const group = setup.groups.get(id);
      if (!group) throw new RestRejection(400, { message: { namespace: ['is not valid'] } });
      requireOwner(call, group);
      if ([...setup.projects.values()].some((project) => project.group === group && project.name === name))
        throw new RestRejection(400, {
          message: { name: ['has already been taken'], path: ['has already been taken'] },
        });
      const input = Object.fromEntries(features.map((feature) => [feature, rest[feature] ?? true]));
      const project = setup.addProject(group, { name, description, visibility, features: input });
      return { status: 201, json: shownProject(project) };
    },

    'GET /projects/:id': (call) => {
      require(call, [], ['statistics']);
      const project = setup.project(call.params.id ?? '');
      const seesStatistics = setup.levelOf(caller(call), project) > reporter;
      return { json: shownProject(project, seesStatistics && flag(call, 'statistics') === 'true') };
    },

    'GET /projects/:id/repository/commits': (call) => {
      require(call, [], ['ref_name']);
      const { commits } = setup.project(call.params.id ?? '');
      if (commits === 0) throw new RestRejection(404, { message: '404 Repository Not Found' });
      const all = Array.from({ length: commits }, (_, n) => ({ id: String(n).padStart(40, '0') }));
      return page(call, all, false);
    },

    'DELETE /:place/:id': (call) => {
      require(call, []);
      const object = place(call);
      requireOwner(call, object);
      if (object.removalTime !== undefined) throw new RestRejection(400, { message: 'Already marked for deletion' });
      object.removalTime = setup.now() + setup.deletionTime;
      return { status: 202, json: { message: '202 Accepted' } };
    },

    'GET /:place/:id/members': (call) => {
      require(call, [], ['query']);
      const members = [...place(call).members].flatMap(([id, level]) => {
        const user = setup.users.get(id);
        return user ? [{ ...shownUser(user, false), access_level: level, expires_at: null }] : [];
      });
      return page(call, members);
    },

    'POST /:place/:id/members': (call) => {
      require(call, ['user_id', 'access_level'], ['expires_at']);
      const { access_level: level, user_id: id } = call.json;
      const object = place(call);
      requireOwner(call, object);
      const user = setup.users.get(Number(id));
      if (!user) throw new RestRejection(404, { message: '404 User Not Found' });
      if (![10, 20, 30, 40, 50].includes(level))
        throw new RestRejection(400, { error: 'access_level does not have a valid value' });
      if (object.members.has(user.id)) throw new RestRejection(409, { message: 'Member already exists' });
      if (setup.levelOf(user, object) > level)
        throw new RestRejection(400, {
          message: {
            access_level: [
              `should be greater than or equal to Owner inherited membership from group ${'group' in object ? object.group.name : ''}`,
            ],
          },
        });
      object.members.set(user.id, level);
      return { status: 201, json: { ...shownUser(user, false), access_level: level, expires_at: null } };
    },

    'DELETE /:place/:id/members/:user': (call) => {
      require(call, []);
      const object = place(call);
      requireOwner(call, object);
      if (!object.members.delete(Number(call.params.user))) throw new RestRejection(404, { message: '404 Not found' });
      return { status: 204 };
    },
  };
}
