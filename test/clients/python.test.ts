/** A client in another language: a script (check.py) uses the server with Python's standard library and prints its results. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import type { Json } from '../support/fixture.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test, fixture } = suiteWithServer('a client in Python');
const script = fileURLToPath(new URL('check.py', import.meta.url));
const timeLimit = 60_000;
const customerNames = Array.from({ length: 25 }, (_, index) => `Customer ${String(index + 1).padStart(2, '0')}`);

/** The results of each step, by name. */
let results: Readonly<Record<string, Json>>;

/** Runs the script to its end; returns its output lines. */
const run = (...parameters: readonly string[]): Promise<string[]> =>
  new Promise((resolve, reject) => {
    // The server is local, so ignore a proxy in the environment.
    const options = { timeout: timeLimit, killSignal: 'SIGKILL', env: { ...process.env, no_proxy: '*' } } as const;
    execFile('python3', [script, ...parameters], options, (error, stdout, stderr) => {
      if (!error) resolve(stdout.trim().split('\n'));
      else if (error.code === 'ENOENT')
        reject(
          new Error(
            'There is no python3 on the PATH; the check of a client in another language needs Python 3.11 or later.',
          ),
        );
      else if (error.killed) reject(new Error(`check.py did not end within ${timeLimit / 1000} s.`));
      else reject(new Error(`check.py failed after:\n${stdout}\n${stderr}`));
    });
  });

/** A user who logs in with a password. */
async function withPassword(
  username: string,
  password: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Json> {
  const user = await fixture.user(username, fields);
  await fixture.staff.post(`${user.url}password/`, { password });
  return user;
}

test.before(async () => {
  await withPassword('clerk', 'pässword 1', { is_staff: true });
  const visitor = await withPassword('visitor', 'secret12');
  const customers: Json[] = [];
  for (const name of customerNames) customers.push(await fixture.customer(name));
  await fixture.grant(customers[24], visitor, 'owner');
  for (const name of ['Bridge', 'Tunnel']) await fixture.project(name, customers[0]);
  await fixture.project('Ferry', customers[1]);
  const lines = await run(fixture.url, 'clerk', 'pässword 1', 'visitor', 'secret12');
  results = Object.fromEntries(lines.map((line) => JSON.parse(line) as Json).map(({ step, ...rest }) => [step, rest]));
});

/** An error with a detail. */
const rejection = (status: number, detail: string): Json => ({ status, detail, fields: {} });
/** An error with messages by field. */
const faulty = (status: number, fields: Json): Json => ({ status, detail: null, fields });

const notFound = rejection(404, 'Not found.');

test('runs every step', () => {
  assert.equal(Object.keys(results), ['login', 'root', 'paging', 'lists', 'objects', 'image', 'errors', 'logout']);
});

test('logs in, and reports failed logins', () => {
  const { token, ...rest } = results.login;
  assert.match(token, /^[0-9a-f]{40}$/);
  assert.equal(rest, {
    'without token': rejection(401, 'Authentication credentials were not provided.'),
    'wrong password': rejection(401, 'Invalid username/password.'),
    'no password': faulty(401, { password: ['This field may not be null.'] }),
    me: ['clerk'],
  });
});

test('finds the collections in the root', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  assert.equal(results.root, {
    configuration: 200,
    version: { version },
    customers: `${fixture.url}/api/customers/`,
    followed: 200,
  });
});

test('reads three pages by the Link header, without gaps or duplicates', () => {
  const { names, links, ...rest } = results.paging;
  assert.equal(names, [customerNames.slice(0, 10), customerNames.slice(10, 20), customerNames.slice(20)]);
  const page = (number: number): string =>
    `${fixture.url}/api/customers/?name=Customer&o=name${number === 1 ? '' : `&page=${number}`}`;
  assert.equal(links, [
    { first: page(1), next: page(2), last: page(3) },
    { first: page(1), prev: page(1), next: page(3), last: page(3) },
    { first: page(1), prev: page(2), last: page(3) },
  ]);
  assert.equal(rest, { counts: ['25', '25', '25'], 'by seven': [7, 7, 7, 4], beyond: rejection(404, 'Invalid page.') });
});

test('orders, filters and narrows lists', () => {
  assert.equal(results.lists, {
    descending: ['Customer 25', 'Customer 24', 'Customer 23'],
    filtered: customerNames.slice(9, 19),
    'by customer': ['Bridge', 'Tunnel'],
    nothing: [],
    'only names': [{ name: 'Customer 01' }, { name: 'Customer 02' }],
    'unknown order': faulty(400, { o: ['"colour" is not a valid choice.'] }),
  });
});

test('creates, reads conditionally, changes and deletes an object, with any text in it', () => {
  assert.equal(results.objects, {
    created: 201,
    location: true,
    read: true,
    text: [true, true, '日本'],
    unchanged: true,
    patched: [200, true],
    changed: true,
    deleted: [204, null],
    gone: notFound,
    twice: notFound,
  });
});

test('uploads and downloads a file', () => {
  assert.equal(results.image, {
    stored: true,
    type: 'image/png',
    same: true,
    'no image': faulty(400, {
      image: ['Upload a valid image. The file you uploaded was either not an image or a corrupted image.'],
    }),
    removed: 204,
    gone: notFound,
  });
});

test('reports the errors of a request', () => {
  assert.equal(results.errors, {
    fields: faulty(400, {
      name: ['This field may not be blank.'],
      agreement_number: ['Ensure this value is greater than or equal to 0.'],
      email: ['Enter a valid email address.'],
      country: ['"XX" is not a valid choice.'],
    }),
    missing: faulty(400, { name: ['This field is required.'], customer: ['This field is required.'] }),
    link: faulty(400, { customer: ['Invalid hyperlink - Object does not exist.'] }),
    syntax: faulty(400, { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] }),
    'media type': rejection(415, 'Unsupported media type "text/plain" in request.'),
    path: notFound,
    method: rejection(405, 'Method "DELETE" not allowed.'),
    state: rejection(409, 'Cannot delete organization with existing projects'),
    'lesser sees': ['Customer 25'],
    'lesser may not': rejection(403, 'You do not have permission to perform this action.'),
    'lesser does not see': notFound,
  });
});

test('logs out', () => {
  assert.equal(results.logout, { after: rejection(401, 'Invalid token.') });
});

test.run();
