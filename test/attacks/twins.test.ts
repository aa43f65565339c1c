/**
 * Two servers that differ only in objects hidden from a user respond to all of that user's requests with the same bytes: no
 * filter, order, count, page or header reveals the difference. The requests come from the OpenAPI document. Their values include
 * names, links and uuids of hidden objects.
 */

import { createHash } from 'node:crypto';
import { request } from 'node:http';
import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Dice } from '../chaos/fuzz/dice.ts';
import { ApiDocument, type Schema } from '../chaos/fuzz/document.ts';
import { type FuzzRequest, RequestMaker } from '../chaos/fuzz/requests.ts';
import { objectsOf } from '../chaos/fuzz.ts';
import { dropletService } from '../support/droplets.ts';
import { Fixture, type Json } from '../support/fixture.ts';
import { createPersonas } from '../support/personas.ts';
import { readBody } from '../support/read-body.ts';
import { Receiver } from '../support/receiver.ts';
import { work } from '../support/simulated.ts';

const test = suite('twins');
/** Number of random requests, in addition to those that name hidden objects. */
const random = 300;
/** Parameters that find a user by their exact name. */
const byWholeName: readonly string[] = ['username_exact', 'email_exact'];

/** Random bytes, determined by a label and the number of draws since it was set. */
class Labelled {
  #label = '';
  #drawn = 0;

  /** Sets the label that determines the next bytes. */
  begin(label: string): void {
    this.#label = label;
    this.#drawn = 0;
  }

  bytes = (count: number): Buffer => {
    const pieces: Buffer[] = [];
    for (let left = count; left > 0; left -= 32)
      pieces.push(
        createHash('sha256')
          .update(`${this.#label} ${this.#drawn++}`)
          .digest(),
      );
    return Buffer.concat(pieces).subarray(0, count);
  };
}

/** The difference: words in hidden objects, and the number of such objects. */
interface Hidden {
  readonly words: readonly [customer: string, project: string, person: string, other: string];
  readonly role: 'owner' | 'support';
  readonly more: boolean;
}

const left: Hidden = { words: ['Ministry', 'Bridge', 'arthur', 'Alpha'], role: 'owner', more: false };
const right: Hidden = { words: ['Zoo', 'Aquarium', 'zelda', 'Omega'], role: 'support', more: true };

class Twin {
  readonly #random = new Labelled();
  readonly fixture = new Fixture();
  /** Tokens of users who see a part of the data. */
  readonly tokens: string[] = [];
  /** Links of objects that are hidden from all of these users. */
  hiddenLinks: readonly string[] = [];

  constructor(
    private readonly hidden: Hidden,
    private readonly receiver: Receiver,
  ) {}

  async build(options: ServerOptions): Promise<void> {
    const { fixture } = this;
    this.#random.begin('start');
    const networks = { hooks_allowed_networks: ['127.0.0.1'] };
    await fixture.open({ ...options, ...networks, base_url: 'https://cloud.example.com', random: this.#random.bytes });
    this.#random.begin('visible');
    const people = await createPersonas(fixture);
    await fixture.staff.patch(people.customer.url, { native_name: 'Alisa', abbreviation: 'ALC' });
    const cloud = await dropletService(fixture, people, { name: 'Cloud' });
    await cloud.make({ name: 'Alpha' });
    await fixture.staff.post('/api/alerts/', this.#alert(people.project, 'Visible'));
    await people.clients.owner.post('/api/hooks-web/', {
      destination_url: this.receiver.url,
      event_groups: ['users', 'projects', 'customers', 'resources'],
    });
    this.#random.begin('hidden');
    // Create the same number of objects on both sides, so that later visible objects have equal numbers in their paths.
    const there = await this.#hide(options.users_visible === 'connected');
    this.#random.begin('visible again');
    const second = await fixture.project('Second', people.customer);
    await fixture.grant(second, people.users.stranger, 'support', '2019-01-01T00:00:00Z');
    await fixture.staff.patch(people.project.url, { description: 'Seen by its people' });
    await cloud.make({ name: 'Beta' });
    this.#random.begin('more');
    const before = fixture.clock.now();
    if (this.hidden.more) await this.#hideMore(there);
    fixture.clock.set(before + 3_600_000_000);
    this.#random.begin('ready');
    fixture.server.tick();
    await fixture.server.settled();
    for (const name of ['owner', 'helper', 'manager', 'observer', 'stranger', 'nobody.here'])
      this.tokens.push(fixture.server.issueToken(name));
  }

  #alert = (scope: Json, message: string): Json => ({
    alert_type: 'budget_nearly_spent',
    message,
    severity: 'Warning',
    scope: scope.url,
  });

  /** Another customer with all of its objects. */
  async #hide(isDirectoryNarrow: boolean): Promise<{ customer: Json; project: Json; user: Json }> {
    const { fixture, hidden } = this;
    const { staff } = fixture;
    const [name, projectName, person, other] = hidden.words;
    await fixture.user('nobody.here');
    // If the directory lists all users, people are visible but their roles are not.
    const user = await fixture.user(
      isDirectoryNarrow ? person : 'somebody',
      isDirectoryNarrow ? { full_name: name } : {},
    );
    const customer = await fixture.customer(name, { native_name: other, abbreviation: other, contact_details: name });
    await fixture.grant(customer, user, hidden.role);
    const project = await fixture.project(projectName, customer, { description: other });
    await fixture.grant(project, user, hidden.role === 'owner' ? 'manager' : 'admin');
    const cloud = await dropletService(fixture, { customer, project }, { name });
    const droplet = await cloud.make({ name: other, description: name });
    if (hidden.role === 'owner') await staff.post(`${droplet.url}stop/`);
    await work(fixture);
    await staff.post('/api/alerts/', { ...this.#alert(project, name), severity: hidden.more ? 'Error' : 'Info' });
    await staff.post('/api/events/', { level: 'info', message: `${other} of ${name}`, scope: project.url });
    const [quota] = (await staff.get(project.url)).body.quotas;
    await staff.patch(quota.url, { limit: hidden.role === 'owner' ? 7 : 70 });
    await staff.post('/api/user-invitations/', {
      email: `${person}@example.com`,
      link_template: 'https://app.example.com/{uuid}/',
      project: project.url,
      project_role: 'manager',
    });
    this.hiddenLinks = [customer, project, user, cloud.service, cloud.settings, droplet].map(({ url }) => url);
    return { customer, project, user };
  }

  /** Returns the objects that only one of the twins has. */
  async #hideMore({ customer, user }: { customer: Json; user: Json }): Promise<void> {
    const { fixture } = this;
    const { staff } = fixture;
    const project = await fixture.project('Alpha', customer);
    const another = await fixture.customer('Alice');
    await fixture.project('Rocket', another);
    await fixture.grant(another, user, 'owner');
    await staff.patch(customer.url, { registration_code: '12345' });
    const cloud = await dropletService(fixture, { customer: another, project: await fixture.project('Beta', another) });
    await cloud.make({ name: 'web' });
    await staff.post('/api/alerts/', this.#alert(project, 'More'));
    await staff.post('/api/hooks-web/', { destination_url: 'https://more.example.com/', event_groups: ['users'] });
    await staff.delete(project.url);
  }

  /** Returns a whole response as text: status, headers and body. */
  response({ headers, method, sender, target }: FuzzRequest): Promise<string> {
    const { hostname, port } = new URL(this.fixture.url);
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          hostname,
          port,
          method,
          path: target,
          headers: { ...headers, Authorization: `Token ${this.tokens[sender]}` },
        },
        (response) => {
          const { 'x-request-id': _, date: __, ...visible } = response.headers;
          readBody(response).then(
            (body) => resolve(`${response.statusCode} ${JSON.stringify(visible)} ${body.toString('latin1')}`),
            reject,
          );
        },
      );
      sent.on('error', reject);
      sent.end();
    });
  }
}

let receiver: Receiver;
test.before(async () => {
  receiver = await Receiver.start();
});
test.after(() => receiver.close());

/** Sends each parameter and each order of each list with a hidden value, by alternating users. */
function pointed(document: ApiDocument, hidden: readonly string[], senders: number): FuzzRequest[] {
  const dice = new Dice('pointed');
  const uuids = hidden.map((url) => url.split('/').at(-2) ?? '');
  const texts = [...left.words, ...right.words];
  const valueFor = ({ enum: words, examples, format, items, pattern, type }: Schema): string => {
    if (items) return valueFor(items);
    if (words) return String(dice.pick(words));
    if (pattern?.includes('A-Fa-f')) return dice.pick(uuids);
    if (format?.startsWith('uri') || String(examples?.[0]).includes('/api/')) return dice.pick(hidden);
    if (type === 'boolean') return 'true';
    if (type === 'integer') return '1';
    return dice.pick([...texts, ...texts, ...uuids, ...hidden]);
  };
  return document.operations
    .filter(({ path }) => !path.includes('{'))
    .flatMap(({ parameters, path }) =>
      parameters
        .filter(({ name }) => !byWholeName.includes(name))
        .flatMap(({ name, schema }) => {
          const orders = name === 'o' && schema.items?.enum ? schema.items.enum.map(String) : undefined;
          const values = orders ?? [valueFor(schema)];
          return values.map((value) => `${path}?${name}=${encodeURIComponent(value)}`);
        }),
    )
    .map((target, number) => ({
      number,
      sender: number % senders,
      method: 'GET',
      target: number % 2 === 0 ? target : `${target}&page_size=1`,
      headers: {},
      body: undefined,
    }));
}

for (const directory of ['all', 'connected'] as const) {
  test(`responds alike whatever a user cannot see, with users_visible=${directory}`, async () => {
    const twins = [new Twin(left, receiver), new Twin(right, receiver)] as const;
    for (const twin of twins) await twin.build({ users_visible: directory });
    const [one, other] = twins;
    const target = { url: one.fixture.url, token: one.fixture.staff.token ?? '' };
    const document = new ApiDocument((await one.fixture.anonymous.get('/docs/?format=openapi')).body, ['GET']);
    const objects = await objectsOf(document, target);
    const words = [...left.words, ...right.words, 'Alice', 'Rocket', 'Beta', 'web', 'a', 'o', 'Min', 'quar'];
    const maker = new RequestMaker(document, objects, one.tokens.length, `twins ${directory}`, new Set(), words);
    const all = [
      ...pointed(document, one.hiddenLinks, one.tokens.length),
      ...Array.from({ length: random }, (_, number) => maker.make(number)).map((created) => ({
        ...created,
        // Send only reads.
        method: ['GET', 'HEAD', 'OPTIONS'].includes(created.method) ? created.method : 'GET',
      })),
    ];
    // Audit records are numbered and hashed over the whole trail, whose key belongs to the server.
    const requests = all.filter((read) => !read.target.startsWith('/api/audit/'));
    let nonEmptyCount = 0;
    for (const read of requests) {
      const [here, there] = await Promise.all([one.response(read), other.response(read)]);
      assert.is(there, here, `${read.number}: ${read.sender} ${read.target}`);
      if (here.startsWith('200') && !here.endsWith(' []')) nonEmptyCount++;
    }
    assert.ok(requests.length > 1000, `${requests.length} requests`);
    assert.ok(
      nonEmptyCount > requests.length / 10,
      `only ${nonEmptyCount} of ${requests.length} responses had content`,
    );
    // Check that the twins differ for staff.
    const [hereAll, thereAll] = await Promise.all(
      twins.map(async ({ fixture }) => (await fixture.staff.get('/api/customers/')).body.map(({ name }: Json) => name)),
    );
    assert.not.equal(hereAll, thereAll);
    for (const { fixture } of twins) await fixture.close();
  });
}

test.run();
