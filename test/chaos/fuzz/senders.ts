/** The senders of a fuzzer's requests: staff, global support, users with each role, a user without a role, and no user. */
import { request } from 'node:http';

/** The tested server, and a staff token that no sender uses. */
export interface Target {
  readonly url: string;
  readonly token: string;
}

// biome-ignore lint/suspicious/noExplicitAny: representations are looked into freely
type Json = any;

interface Asked {
  readonly status: number;
  readonly body: Json;
}

const password = 'correct horse 1';

/** Sends a request. Throws if it fails. */
export function ask({ url, token }: Target, method: string, path: string, body?: object): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url + path.replace(/^https?:\/\/[^/]+/, ''),
      { method, headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = response.headers['content-type']?.startsWith('application/json');
          resolve({ status: response.statusCode ?? 0, body: isJson && text !== '' ? JSON.parse(text) : text });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

const names = ['staff', 'support', 'owner', 'helper', 'manager', 'admin', 'observer', 'nobody'] as const;

/** The users who send requests, and how they log in again after losing their tokens or roles. */
export class Senders {
  /** The number of senders. The last one has no token. */
  readonly count = names.length + 1;
  readonly #tokens = new Map<number, string>();
  readonly #users = new Map<string, Json>();
  #roles: readonly { readonly path: string; readonly body: object }[] = [];
  #customer = '';

  private constructor(private readonly target: Target) {}

  /** Creates the users, with roles in the customer and project with the most objects. */
  static async create(target: Target): Promise<Senders> {
    const senders = new Senders(target);
    for (const name of names) {
      const { body } = await ask(target, 'POST', '/api/users/', {
        username: `fuzz.${name}`,
        email: `fuzz.${name}@example.invalid`,
        is_staff: name === 'staff',
        is_support: name === 'support',
      });
      senders.#users.set(name, body);
      await ask(target, 'PATCH', body.url, { agree_with_policy: true });
      await ask(target, 'POST', `${body.url}password/`, { password });
    }
    const resources = (await ask(target, 'GET', '/api/resources/?page_size=1')).body;
    const project = resources[0]?.project ?? (await ask(target, 'GET', '/api/projects/?page_size=1')).body[0].url;
    const { customer } = (await ask(target, 'GET', project)).body;
    senders.#customer = customer;
    const inCustomer = (name: string, role: string) => ({
      path: '/api/customer-permissions/',
      body: { customer, user: senders.#users.get(name).url, role },
    });
    const inProject = (name: string, role: string) => ({
      path: '/api/project-permissions/',
      body: { project, user: senders.#users.get(name).url, role },
    });
    senders.#roles = [
      inCustomer('owner', 'owner'),
      inCustomer('helper', 'support'),
      inProject('manager', 'manager'),
      inProject('admin', 'admin'),
      inProject('observer', 'support'),
    ];
    await senders.repair();
    return senders;
  }

  /** Creates objects that the sample data lacks. */
  async furnish(): Promise<void> {
    const { target } = this;
    const post = (path: string, body: object): Promise<Asked> => ask(target, 'POST', path, body);
    const tenants = (await ask(target, 'GET', '/api/openstack-tenants/?state=OK&page_size=3')).body;
    for (let i = 0; i < 3; i++) {
      await post('/api/hooks-web/', { destination_url: `https://hooks.example.invalid/${i}`, event_groups: ['users'] });
      await post('/api/hooks-push/', {
        type: 'Android',
        device_id: `device-${i}`,
        token: `token-${i}`,
        event_groups: ['users'],
      });
      await post('/api/hooks-email/', { email: `hooks-${i}@example.invalid`, event_groups: ['users'] });
      await post('/api/user-invitations/', {
        email: `invited-${i}@example.invalid`,
        customer: this.#customer,
        customer_role: 'owner',
        link_template: 'https://app.example.invalid/{uuid}/',
      });
      if (tenants[i]) await post(`${tenants[i].url}create_floating_ip/`, {});
    }
  }

  /** Paths of users that must not be changed by requests. */
  async protectedUrls(): Promise<Set<string>> {
    const { body } = await ask(this.target, 'GET', '/api/users/?current');
    return new Set([...this.#users.values(), ...body].map(({ url }) => new URL(url).pathname));
  }

  /** Grants roles again that requests have revoked. */
  async repair(): Promise<void> {
    for (const { body, path } of this.#roles) await ask(this.target, 'POST', path, body);
  }

  /** Returns a token of this sender; undefined for the sender without one. */
  async token(sender: number): Promise<string | undefined> {
    const name = names[sender];
    if (name === undefined) return undefined;
    const known = this.#tokens.get(sender);
    if (known !== undefined) return known;
    const { body, status } = await ask(this.target, 'POST', '/api-auth/password/', {
      username: `fuzz.${name}`,
      password,
    });
    if (status !== 200) throw new Error(`fuzz.${name} cannot log in: ${status} ${JSON.stringify(body)}`);
    this.#tokens.set(sender, body.token);
    return body.token;
  }

  /** Removes a token that is no longer valid. */
  forget = (sender: number): void => void this.#tokens.delete(sender);

  name = (sender: number): string => names[sender] ?? 'without a token';
}
