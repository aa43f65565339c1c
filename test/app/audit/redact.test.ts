/** `tenantry audit redact` (audit.md 7). `npm test` builds the program first. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Client, type Json } from '../../support/fixture.ts';
import { failed, nativeCache, Program, type Serving } from '../../support/program.ts';

const test = suite('audit redact');
const program = new Program(nativeCache);
let server: Serving;
let staff: Client;

const redact = (...args: readonly string[]) => program.run(['audit', 'redact', ...args]);
const records = async (query: string): Promise<Json[]> => (await staff.get(`/api/audit/?page_size=300&${query}`)).body;

async function add(username: string): Promise<Json> {
  return (await staff.post('/api/users/', { username, full_name: `The ${username}` })).body;
}

test.before(async () => {
  server = await program.serve();
  staff = new Client(server, (await program.run(['token', 'admin'])).stdout.trim());
});
test.after(() => program.end());

test('removes the private parts of records by and about a user while a server runs, and keeps the chain', async () => {
  const [carol, dave] = [await add('carol'), await add('dave')];
  await staff.post(`${carol.url}password/`, { password: 'secret12' });
  const body = { username: 'carol', password: 'secret12' };
  const { token } = (await new Client(server, undefined).post('/api-auth/password/', body)).body;
  const change = await new Client(server, token).patch(carol.url, { job_title: 'Engineer', agree_with_policy: true });
  assert.is(change.status, 200);
  const before = await records('outcome=done');
  assert.equal(await redact('Carol', '--reason', 'She asked for it.'), {
    code: 0,
    stdout: 'Redacted 4 records.\n',
    stderr: '',
  });
  const [record, ...after] = await records('outcome=done');
  const isHers = ({ actor, object }: Json): boolean => [actor.uuid, object?.uuid].includes(carol.uuid);
  assert.equal(
    after,
    before.map((old) => (isHers(old) ? { ...old, private: null } : old)),
  );
  assert.is(after.filter(isHers).length, 4);
  assert.is((await records(`object=${dave.uuid}`))[0].private.object_name, 'dave');
  assert.equal([record.operation, record.object], ['audit redact', { type: 'users', uuid: carol.uuid }]);
  assert.is(record.private.object_name, null);
  assert.equal(record.private.changes, [
    { field: 'reason', from: null, to: 'She asked for it.' },
    { field: 'records', from: null, to: 4 },
  ]);
  const { stdout } = await program.run(['audit', 'verify']);
  assert.match(stdout, /^Verified \d+ records in 1 chains, 4 redacted\.\n/);
});

test('removes the records of other objects whose changes name the user, now or before', async () => {
  const frank = await add('frank');
  await staff.patch(frank.url, { full_name: 'Frank Weber', email: 'Frank@example.com' });
  await staff.patch(frank.url, { full_name: 'Franklin Weber' });
  const create = async (body: object): Promise<string> => (await staff.post('/api/customers/', body)).body.uuid;
  const naming = [
    await create({ name: 'A', contact_details: 'Ask Frank Weber first.' }),
    await create({ name: 'B', email: 'frank@EXAMPLE.com' }),
    await create({ name: 'C', abbreviation: 'frank' }),
    await create({ name: 'Shop of Franklin Weber' }),
  ];
  const others = [
    await create({ name: 'frank' }),
    await create({ name: 'D', contact_details: 'A frank answer.' }),
    await create({ name: 'E', email: 'franka@example.com' }),
  ];
  const isRedacted = async (uuids: readonly string[]): Promise<boolean[]> =>
    Promise.all(uuids.map(async (uuid) => (await records(`object=${uuid}`)).every((one) => one.private === null)));
  assert.equal(await redact(frank.uuid, '--reason', 'x'), { code: 0, stdout: 'Redacted 7 records.\n', stderr: '' });
  assert.equal(await isRedacted(naming), [true, true, true, true]);
  assert.equal(await isRedacted(others), [false, false, false]);
  assert.match((await program.run(['audit', 'verify'])).stdout, /^Verified \d+ records in 1 chains, 11 redacted\.\n/);
});

test('finds a deleted user by the name in the trail, and erases the bytes', async () => {
  const erin = await add('erin-the-deleted');
  await staff.delete(erin.url);
  assert.is((await records(`object=${erin.uuid}`)).length, 2);
  assert.equal(
    await redact('erin-the-gone', '--reason', 'x'),
    failed('there is no user "erin-the-gone", and the audit trail names none'),
  );
  assert.is((await redact('erin-the-deleted', '--reason', 'x')).stdout, 'Redacted 2 records.\n');
  assert.equal(
    (await records(`object=${erin.uuid}`)).map(({ operation, private: hidden }) => [operation, hidden === null]),
    [
      ['audit redact', false],
      ['deleteUser', true],
      ['createUser', true],
    ],
  );
  assert.equal(await redact('carol'), failed('--reason is required', 2));
  await server.stop();
  const file = readFileSync(join(program.folder, 'data/tenantry.db'), 'latin1');
  assert.not.match(file, /"object_name":"erin-the-deleted"/);
});

test.run();
