import * as v from 'valibot';
import { allItems, member } from './responses.ts';
import type { Call } from './session.ts';

/* Identity v3: projects, users and roles (providers.md 4.7). */

const text = v.nullish(v.string(), '');

const project = v.object({
  id: v.string(),
  name: v.string(),
  description: text,
  enabled: v.nullish(v.boolean(), true),
  tags: v.nullish(v.array(v.string()), []),
});
const user = v.object({ id: v.string(), name: v.string(), default_project_id: text });
const named = v.object({ id: v.string(), name: v.string() });

export type VendorProject = v.InferOutput<typeof project>;

const query = (values: Readonly<Record<string, string>>): string => `?${new URLSearchParams(values)}`;

export class IdentityApi {
  constructor(
    private readonly call: Call,
    /** Id of the domain of projects and users. */
    private readonly domain: string,
  ) {}

  projects = (name?: string): Promise<VendorProject[]> =>
    allItems(
      this.call,
      `/projects${query({ domain_id: this.domain, ...(name !== undefined && { name }) })}`,
      'projects',
      project,
    );

  project = async (id: string): Promise<VendorProject> =>
    member(await this.call('GET', `/projects/${id}`), 'project', project);

  /** Creates a project; `tag` identifies it if the response is lost. */
  async createProject(name: string, description: string, tag: string): Promise<string> {
    const wanted = { name, description, domain_id: this.domain, tags: [tag] };
    return member(await this.call('POST', '/projects', { project: wanted }), 'project', project).id;
  }

  updateProject = (id: string, name: string, description: string): Promise<unknown> =>
    this.call('PATCH', `/projects/${id}`, { project: { name, description } });

  deleteProject = (id: string): Promise<unknown> => this.call('DELETE', `/projects/${id}`);

  /** Id of the project's user with this name; ignores users of other projects with the same name. */
  async userOf(projectId: string, name: string): Promise<string | undefined> {
    if (name === '') return undefined;
    const users = await allItems(this.call, `/users${query({ domain_id: this.domain, name })}`, 'users', user);
    return users.find((one) => one.default_project_id === projectId)?.id;
  }

  async createUser(projectId: string, name: string, password: string): Promise<string> {
    const wanted = { name, password, domain_id: this.domain, default_project_id: projectId, enabled: true };
    return member(await this.call('POST', '/users', { user: wanted }), 'user', user).id;
  }

  changePassword = (userId: string, password: string): Promise<unknown> =>
    this.call('PATCH', `/users/${userId}`, { user: { password } });

  deleteUser = (id: string): Promise<unknown> => this.call('DELETE', `/users/${id}`);

  /** Grants a user the member role in a project, by the first role name that the cloud has. */
  async makeMember(projectId: string, userId: string): Promise<void> {
    for (const name of ['Member', '_member_']) {
      const [role] = await allItems(this.call, `/roles${query({ name })}`, 'roles', named);
      if (!role) continue;
      await this.call('PUT', `/projects/${projectId}/users/${userId}/roles/${role.id}`);
      return;
    }
  }
}
