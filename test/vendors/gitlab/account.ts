import type { Json } from '../../support/fixture.ts';
import { type AccountOptions, opened, VendorAccount } from '../account.ts';
import type { FaultyAccount } from '../faulty-vendor.ts';
import { GitLab } from './stand-in.ts';

/** A project whose administrator uses a GitLab. */
export class GitLabAccount extends VendorAccount<GitLab> implements FaultyAccount {
  static open = (options: AccountOptions = {}): Promise<GitLabAccount> =>
    opened(options, GitLab.start, (...parts) => new GitLabAccount('gitlab', ...parts));

  get credentials(): Record<string, unknown> {
    return { token: [...this.vendor.tokens.keys()][0] };
  }

  /** The vendor's side, for the fault tests. */
  get faulty(): FaultyAccount['faulty'] {
    const { server, tokens, contents: setup } = this.vendor;
    return {
      secrets: [...tokens.keys()],
      injectFault: (route, fault, times) => server.injectFault(route, fault, times),
      take: () => server.take(),
      machines: () => [...setup.groups.keys()].map(String),
      removeMachine: (id) => void setup.groups.delete(Number(id)),
      replaceCredentials: () => {
        tokens.clear();
        tokens.set('glpat-another', 'tenantry');
        return { token: 'glpat-another' };
      },
    };
  }

  order = (name: string): Promise<Json> => this.orderGroup(name);

  orderGroup = (name: string, fields: Record<string, unknown> = {}): Promise<Json> =>
    this.create('gitlab-groups', { name, path: name, service_project_link: this.link.url, ...fields });

  orderProject = (name: string, group: Json, fields: Record<string, unknown> = {}): Promise<Json> =>
    this.create('gitlab-projects', {
      name,
      group: group.url,
      visibility_level: 10,
      service_project_link: this.link.url,
      ...fields,
    });

  /** Returns usernames and access levels of the members of a group or project at the stand-in. */
  membersOf({ backend_id: id }: Json): string[] {
    const { groups, projects, users } = this.vendor.contents;
    const { members } = groups.get(Number(id)) ?? projects.get(Number(id)) ?? { members: new Map<number, number>() };
    return [...members].map(([user, level]) => `${users.get(user)?.username} ${level}`).sort();
  }
}
