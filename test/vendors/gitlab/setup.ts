import { RestRejection } from '../rest.ts';

/* The state of a GitLab. It changes over time without requests. */

export interface User {
  readonly id: number;
  readonly username: string;
  readonly name: string;
  email: string;
  isAdmin: boolean;
}

interface Deletable {
  readonly id: number;
  readonly members: Map<number, number>;
  /** Time in milliseconds at which it is removed; undefined: never. */
  removalTime: number | undefined;
}

export interface Group extends Deletable {
  name: string;
  readonly path: string;
  description: string;
  readonly created: number;
}

export interface Project extends Deletable {
  name: string;
  readonly path: string;
  description: string;
  readonly group: Group;
  readonly visibility: string;
  readonly features: Readonly<Record<string, boolean>>;
  commits: number;
  readonly created: number;
}

/** The access level of an owner, and of a user who may read statistics. */
export const owner = 50;
export const reporter = 20;

export class Setup {
  /** Milliseconds until deleted objects are removed. */
  deletionTime = 3000;
  /** Whether deleted objects are visible, with a mark, until then. */
  marksDeleted = false;
  readonly users = new Map<number, User>();
  readonly groups = new Map<number, Group>();
  readonly projects = new Map<number, Project>();
  #ids = 100;

  constructor(readonly now: () => number) {
    this.addUser({ username: 'tenantry', name: 'Tenantry', email: 'tenantry@example.com', isAdmin: true });
  }

  addUser({ isAdmin = false, ...fields }: { username: string; name: string; email: string; isAdmin?: boolean }): User {
    const user = { id: ++this.#ids, isAdmin, ...fields };
    this.users.set(user.id, user);
    return user;
  }

  addGroup(user: User, { description, name, path }: { name: string; path: string; description: string }): Group {
    const group = {
      id: ++this.#ids,
      name,
      path,
      description,
      created: this.now(),
      removalTime: undefined,
      members: new Map([[user.id, owner]]),
    };
    this.groups.set(group.id, group);
    return group;
  }

  addProject(group: Group, fields: Pick<Project, 'name' | 'description' | 'visibility' | 'features'>): Project {
    const project = {
      ...fields,
      id: ++this.#ids,
      path: fields.name,
      group,
      commits: 0,
      created: this.now(),
      removalTime: undefined,
      members: new Map(),
    };
    this.projects.set(project.id, project);
    return project;
  }

  /** Removes deleted objects that are due. */
  advance(): void {
    for (const objects of [this.projects, this.groups])
      for (const { removalTime, id } of objects.values())
        if (removalTime !== undefined && removalTime <= this.now()) objects.delete(id);
  }

  /** Returns the access level of a user, from the object itself or its group. */
  levelOf(user: User, object: Group | Project): number {
    const inherited = 'group' in object ? (object.group.members.get(user.id) ?? 0) : 0;
    return Math.max(inherited, object.members.get(user.id) ?? 0);
  }

  group(id: string): Group {
    return matches(this.groups.get(Number(id)), 'Group', this.marksDeleted);
  }

  project(id: string): Project {
    return matches(this.projects.get(Number(id)), 'Project', this.marksDeleted);
  }
}

function matches<T extends Deletable>(object: T | undefined, kind: string, isMarked: boolean): T {
  if (!object || (object.removalTime !== undefined && !isMarked))
    throw new RestRejection(404, { message: `404 ${kind} Not Found` });
  return object;
}
