import { createHash } from 'node:crypto';
import type { BackendReference, Membership, Person } from '../../catalogue/driver.ts';
import { ifExists, ProviderError } from '../../catalogue/provider-error.ts';
import type { GitLabApi, ObjectCollection, VendorUser } from './api.ts';

/** The level "Developer" of GitLab. */
const developer = 30;

/** Members of groups and projects at GitLab (providers.md 8). */
export class GitLabMembership implements Membership {
  constructor(
    private readonly api: GitLabApi,
    private readonly collection: (kind: string) => ObjectCollection,
  ) {}

  async members({ backend_id: id, kind }: BackendReference): Promise<ReadonlySet<string>> {
    return new Set((await this.api.members(this.collection(kind), id)).map(String));
  }

  async account(person: Person): Promise<string> {
    const [known] = await this.api.usersOf(person.email);
    return String((known ?? (await this.#make(person))).id);
  }

  /** Creates a GitLab user. Adds a suffix to the username if another person has it. */
  async #make({ email, full_name: fullName, username }: Person): Promise<VendorUser> {
    const plain = usernameOf(username);
    const name = fullName || username;
    try {
      return await this.api.createUser({ email, username: plain, name });
    } catch (error) {
      if (!(error instanceof ProviderError && error.type === 'conflict')) throw error;
      // Another job may have created the user meanwhile.
      const [known] = await this.api.usersOf(email);
      if (known) return known;
      if (!error.message.includes('Username')) throw error;
      const mark = createHash('sha256').update(email.toLowerCase()).digest('hex').slice(0, 6);
      return this.api.createUser({ email, username: `${plain}-${mark}`, name });
    }
  }

  async add({ backend_id: id, kind }: BackendReference, account: string): Promise<boolean> {
    try {
      await this.api.addMember(this.collection(kind), id, { user_id: Number(account), access_level: developer });
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      // Already a member: an earlier call got no response.
      if (error.type === 'conflict') return true;
      // A member of the group with a higher level cannot become a developer of its project.
      if (error.type === 'invalid' && error.message.includes('inherited membership')) return false;
      throw error;
    }
    return true;
  }

  async remove({ backend_id: id, kind }: BackendReference, account: string): Promise<void> {
    await ifExists(this.api.removeMember(this.collection(kind), id, account));
  }
}

/** Converts a username to one that GitLab accepts. */
function usernameOf(username: string): string {
  const plain = username.normalize('NFKD').replace(/[^\w.-]+/g, '-');
  return plain.replace(/^[-.]+|[-.]+$|\.(?:git|atom)$/g, '') || 'user';
}
