/**
 * The options of web hooks: format, signature, and the customers and projects to which a hook is limited (events.md 5.1, 5.2).
 */
import { createHmac, createPublicKey, verify } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import type { Client, Json } from '../../support/fixture.ts';
import { type Received, Receiver } from '../../support/receiver.ts';
import { suiteWithServer } from '../../support/suite.ts';
import slackMessage from './slack-message.json' with { type: 'json' };

const { test, fixture } = suiteWithServer('options of web hooks', { hooks_allowed_networks: ['127.0.0.1'] });
let receiver: Receiver;
let alice: Client;

test.before(async () => {
  receiver = await Receiver.start();
  await fixture.user('alice');
  alice = fixture.as('alice');
});

test.after(() => receiver.close());

test.after.each(async () => {
  for (const { url } of (await fixture.staff.get('/api/hooks/')).body) await fixture.staff.delete(url);
  receiver.take();
  fixture.events();
});

const create = (client: Client, fields: Record<string, unknown>) =>
  client.post('/api/hooks-web/', {
    destination_url: `${receiver.url}/in`,
    event_groups: ['customers', 'projects'],
    ...fields,
  });

async function hook(client: Client, fields: Record<string, unknown> = {}): Promise<Json> {
  const reply = await create(client, fields);
  assert.is(reply.status, 201, JSON.stringify(reply.body));
  return reply.body;
}

/** Returns the types of the received events since the last call, and the names of their customers and projects. */
async function received(): Promise<string[]> {
  await fixture.server.settled();
  return receiver.takeJson().map(({ context, type }) => `${type} ${context.project_name ?? context.customer_name}`);
}

const contentOf = ({ body, headers }: Received): Buffer =>
  Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);

/** Verifies an Ed25519 signature as a receiver would, with the public key from the API. */
const isSignedBy = (publicKey: string, signature: string, request: Received): boolean =>
  verify(
    null,
    contentOf(request),
    createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey.slice(5), 'base64').toString('base64url') },
      format: 'jwk',
    }),
    Buffer.from(signature.slice('v1a,'.length), 'base64'),
  );

const hmacOf = (secret: string, request: Received): string =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(contentOf(request))
    .digest('base64')}`;

async function signaturesOf(url: string): Promise<{ request: Received; signatures: string[] }> {
  await fixture.staff.post(`${url}test/`);
  await fixture.server.settled();
  const [request] = receiver.take() as [Received];
  return { request, signatures: (request.headers['webhook-signature'] as string).split(' ') };
}

const oldKeys = [
  ...['url', 'uuid', 'is_active', 'author_uuid', 'event_types', 'event_groups', 'created', 'modified'],
  ...['hook_type', 'destination_url', 'content_type'],
];

test('a hook without options has the original representation; one with an option shows all options', async () => {
  const plain = await hook(alice);
  assert.equal(Object.keys(plain), [...oldKeys, 'secret']);
  assert.equal(Object.keys((await alice.get(plain.url)).body), oldKeys);
  const chat = await hook(alice, { format: 'slack' });
  const options = ['notification_types', 'format', 'signature', 'customers', 'projects'];
  assert.equal(Object.keys(chat), [...oldKeys, ...options, 'secret']);
  assert.equal(
    options.map((name) => chat[name]),
    [[], 'slack', 'hmac', [], []],
  );
  const { body } = await alice.patch(chat.url, { format: 'standard' });
  assert.equal(Object.keys(body), oldKeys);
});

test('with the format slack, the body is the escaped message', async () => {
  await hook(fixture.staff, { format: 'slack' });
  await fixture.customer('Tom & <Jerry>');
  await fixture.server.settled();
  assert.equal(receiver.takeJson(), [{ text: 'Customer Tom &amp; &lt;Jerry&gt; has been created.' }]);
});

test('chat messages of events and notifications fit the recorded schema of Slack', async () => {
  const validate = new Ajv2020().compile(slackMessage);
  const rejected = ['<!channel> <b>', 'a < b', 'Tom & Jerry', ''].filter((text) => !validate({ text }));
  assert.equal(rejected, ['<!channel> <b>', 'a < b', 'Tom & Jerry', '']);
  await hook(fixture.staff, {
    format: 'slack',
    event_groups: ['customers', 'projects', 'users'],
    notification_types: ['alert_opened', 'alert_closed'],
  });
  const hostile = '<!channel> & <https://example.com|click> &amp; \u2028 "é"';
  const customer = await fixture.customer(hostile);
  await fixture.staff.post('/api/projects/', { name: hostile, customer: customer.url });
  await fixture.staff.patch(customer.url, { abbreviation: 'ABC' });
  const users = (await fixture.staff.get('/api/users/')).body;
  const alert = { alert_type: 'x', message: hostile, severity: 'Error', scope: users[0].url };
  const { body: opened } = await fixture.staff.post('/api/alerts/', alert);
  await fixture.staff.post(`${opened.url}close/`);
  await fixture.server.settled();
  const messages = receiver.takeJson();
  assert.ok(messages.length > 2, JSON.stringify(messages));
  for (const message of messages) assert.ok(validate(message), JSON.stringify([message, validate.errors]));
});

test('a form cannot carry chat messages', async () => {
  const rejection = { format: ['Only JSON can be sent in this format.'] };
  const reply = await create(alice, { content_type: 'form', format: 'slack' });
  assert.equal([reply.status, reply.body], [400, rejection]);
  const chat = await hook(alice, { format: 'slack' });
  const changed = await alice.patch(chat.url, { content_type: 'form' });
  assert.equal([changed.status, changed.body], [400, rejection]);
  const form = await hook(alice, { content_type: 'form' });
  const other = await alice.patch(form.url, { format: 'slack' });
  assert.equal([other.status, other.body], [400, rejection]);
  assert.is((await alice.patch(form.url, { format: 'slack', content_type: 'json' })).status, 200);
  const wrong = await create(alice, { format: 'teams', signature: 'rsa' });
  assert.equal(wrong.body, { format: ['"teams" is not a valid choice.'], signature: ['"rsa" is not a valid choice.'] });
});

test('with the signature ed25519, receivers verify with a public key, and the private key stays in the server', async () => {
  const created = await hook(fixture.staff, { signature: 'ed25519' });
  assert.equal(Object.keys(created), [
    ...oldKeys,
    ...['notification_types', 'format', 'signature', 'customers', 'projects', 'public_key'],
  ]);
  assert.match(created.public_key, /^whpk_[A-Za-z0-9+/]{43}=$/);
  assert.equal((await fixture.staff.get(created.url)).body, created);
  const { request, signatures } = await signaturesOf(created.url);
  assert.is(signatures.length, 1);
  assert.ok(isSignedBy(created.public_key, signatures[0] as string, request));
  assert.not.ok(isSignedBy(created.public_key, signatures[0] as string, { ...request, body: `${request.body} ` }));
  const sealed = fixture.server.app.db.value<Uint8Array>(sql`SELECT secret FROM hook WHERE uuid = ${created.uuid}`);
  assert.not.ok(Buffer.from(sealed as Uint8Array).includes('whsk_'));
});

test('after a rotation of an Ed25519 key both keys sign for 24 hours, the new one first', async () => {
  const { public_key: old, url } = await hook(fixture.staff, { signature: 'ed25519' });
  const reply = await fixture.staff.post(`${url}rotate_secret/`);
  assert.equal([reply.status, Object.keys(reply.body)], [200, ['public_key']]);
  assert.is((await fixture.staff.get(url)).body.public_key, reply.body.public_key);
  const during = await signaturesOf(url);
  assert.equal(
    [reply.body.public_key, old].map((key, i) => isSignedBy(key, during.signatures[i] as string, during.request)),
    [true, true],
  );
  fixture.clock.advance(24 * 3600);
  const after = await signaturesOf(url);
  assert.is(after.signatures.length, 1);
  assert.ok(isSignedBy(reply.body.public_key, after.signatures[0] as string, after.request));
});

test('after a change of the signature both keys sign for 24 hours; a change to hmac shows the secret once', async () => {
  const { secret, url } = await hook(fixture.staff);
  const { body: changed } = await fixture.staff.patch(url, { signature: 'ed25519' });
  assert.equal([changed.secret, changed.signature], [undefined, 'ed25519']);
  const first = await signaturesOf(url);
  assert.ok(isSignedBy(changed.public_key, first.signatures[0] as string, first.request));
  assert.equal(first.signatures.slice(1), [hmacOf(secret, first.request)]);
  const same = await fixture.staff.patch(url, { signature: 'ed25519' });
  assert.is(same.body.public_key, changed.public_key);
  const { body: back } = await fixture.staff.patch(url, { signature: 'hmac' });
  assert.match(back.secret, /^whsec_/);
  assert.is(back.public_key, undefined);
  const second = await signaturesOf(url);
  assert.is(second.signatures[0], hmacOf(back.secret, second.request));
  assert.ok(isSignedBy(changed.public_key, second.signatures[1] as string, second.request));
  assert.is((await fixture.staff.get(url)).body.secret, undefined);
});

test('a limited hook receives only events of its customers and projects', async () => {
  const [first, second] = [await fixture.customer('First'), await fixture.customer('Second')];
  const project = await fixture.project('Inner', second);
  const { url, ...created } = await hook(fixture.staff, {
    event_groups: ['customers', 'projects', 'users'],
    customers: [first.url],
    projects: [project.url, project.url],
  });
  assert.equal([created.customers, created.projects], [[first.url], [project.url]]);
  receiver.take();
  await fixture.staff.patch(first.url, { native_name: 'a' });
  await fixture.staff.patch(second.url, { native_name: 'a' });
  await fixture.staff.patch(project.url, { description: 'a' });
  await fixture.project('Of the first', first);
  await fixture.project('Of the second', second);
  await fixture.customer('Third');
  await fixture.user('somebody');
  assert.equal(await received(), [
    'customer_update_succeeded First',
    'project_update_succeeded Inner',
    'project_creation_succeeded Of the first',
  ]);
  const { body } = await fixture.staff.patch(url, { customers: [], projects: [] });
  assert.is(body.customers, undefined);
  await fixture.staff.patch(second.url, { native_name: 'b' });
  assert.equal(await received(), ['customer_update_succeeded Second']);
});

test('limits must be links to customers and projects that the author can see', async () => {
  const own = await fixture.customer('Own');
  const hidden = await fixture.customer('Hidden');
  await fixture.grant(
    own,
    { url: `${fixture.url}/api/users/${(await alice.get('/api/users/?current')).body[0].uuid}/` } as Json,
    'owner',
  );
  const wrong = async (client: Client, fields: object): Promise<unknown> => {
    const reply = await create(client, fields as Record<string, unknown>);
    return [reply.status, reply.body];
  };
  const hiddenLink = `Can't restore object from url: ${hidden.url}`;
  assert.equal(await wrong(alice, { customers: [hidden.url] }), [400, { customers: [hiddenLink] }]);
  assert.equal(await wrong(alice, { customers: 'x' }), [
    400,
    { customers: ['Expected a list of items but got type "str".'] },
  ]);
  assert.equal(await wrong(alice, { customers: ['nonsense'] }), [400, { customers: ['URL is invalid: nonsense.'] }]);
  assert.equal(await wrong(alice, { customers: null }), [400, { customers: ['This field may not be null.'] }]);
  assert.equal(await wrong(alice, { projects: [own.url] }), [
    400,
    { projects: [`${own.url} object does not support such relationship.`] },
  ]);
  const { url } = await hook(alice, { customers: [own.url] });
  // Staff see the customer, but the hook is Alice's.
  const reply = await fixture.staff.patch(url, { customers: [hidden.url] });
  assert.equal([reply.status, reply.body], [400, { customers: [hiddenLink] }]);
});

test('a hook has at most 100 customers and projects', async () => {
  const customers: string[] = [];
  for (let i = 0; i < 101; i++) customers.push((await fixture.customer(`Customer ${i}`)).url);
  const reply = await create(fixture.staff, { customers });
  assert.equal(
    [reply.status, reply.body],
    [400, { customers: ['A hook can have at most 100 customers and projects.'] }],
  );
  const { url } = await hook(fixture.staff, { customers: customers.slice(1) });
  const project = await fixture.project('One more', { url: customers[0] } as Json);
  const more = await fixture.staff.patch(url, { projects: [project.url] });
  assert.equal([more.status, more.body], [400, { projects: ['A hook can have at most 100 customers and projects.'] }]);
});

test('a hook that loses its last customer is disabled after the event of the deletion, and never becomes unlimited', async () => {
  const [first, second] = [await fixture.customer('First'), await fixture.customer('Second')];
  const { url } = await hook(fixture.staff, { customers: [first.url, second.url] });
  receiver.take();
  await fixture.staff.delete(first.url);
  assert.equal(await received(), ['customer_deletion_succeeded First']);
  const { body: one } = await fixture.staff.get(url);
  assert.equal([one.customers, one.is_active], [[second.url], true]);
  receiver.behaviour = 500;
  await fixture.staff.delete(second.url);
  await fixture.server.settled();
  receiver.take();
  receiver.behaviour = 200;
  const { body: none } = await fixture.staff.get(url);
  assert.equal([none.customers, none.is_active], [[], false]);
  await fixture.advance(10);
  assert.equal(await received(), ['customer_deletion_succeeded Second'], 'its retries continue');
  await fixture.customer('Another');
  assert.equal(await received(), []);
  const reply = await fixture.staff.patch(url, { is_active: true });
  assert.equal(
    [reply.status, Object.keys(reply.body)],
    [400, ['is_active']],
    'enabling the hook needs a decision about its limits',
  );
  assert.is((await fixture.staff.patch(url, { is_active: true, customers: [], projects: [] })).status, 200);
  await fixture.customer('Last');
  assert.equal(await received(), ['customer_creation_succeeded Last']);
});

test.run();
