/**
 * Every write in the OpenAPI document leaves an audit record or documents why not. Checked here, for the examples of the document
 * in test/app/docs/examples.test.ts, and in the tests that `performedElsewhere` names.
 */
import { readdirSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { operationIds } from '../../../src/app/docs/operation-ids.ts';
import type { Endpoint, Method } from '../../../src/kernel/collection/endpoint.ts';
import { sql } from '../../../src/kernel/db/sql.ts';
import { documented } from '../../support/catalogue.ts';
import type { Json } from '../../support/fixture.ts';
import { bodies } from '../rights/bodies.ts';
import { isProvided, newKeyOf, providedBody } from '../rights/provided.ts';
import { restore, type Situation, situation } from '../rights/situation.ts';
import { changedBodies, performedAlone, performedElsewhere } from './bodies.ts';

const test = suite('audit records of operations');
const idOf = operationIds(documented.filter(({ path }) => /^\/api/.test(path)));
let place: Situation;

test.before(async () => {
  place = await situation();
});
test.after(() => place.fixture.close());

/** Keys of objects that staff may change, by the collection in the path. */
function keyFor(path: string): string {
  const { delivery: _, own, any, other, customer, ...rest } = (place.keys[path.split('/')[2] ?? ''] ?? {}) as Json;
  const key = other ?? own ?? any ?? customer ?? Object.values(rest)[0];
  return key?.ST ?? key ?? '';
}

/** A body for an object at a provider, named `one`. */
async function changedProvided(path: string, method: Method, object: string): Promise<unknown> {
  if (method === 'PUT' || method === 'PATCH') return { name: 'changed', summary: 'changed', message: 'changed' };
  // Copy them: the situation caches the prerequisites.
  return providedBody({ ...place }, method, path, object);
}

/** Brings the simulator's machines into a state in which they can be deleted. */
function stopMachines(): void {
  const { db } = place.fixture.server.app;
  db.write(() => db.run(sql`UPDATE resource SET runtime_state = 'SHUTOFF' WHERE kind = 'OpenStack.Instance'`));
  db.commit();
}

async function perform({ path }: Endpoint, method: Method): Promise<{ status: number; body?: Json; url: string }> {
  const alone = performedAlone[`${method} ${path}`];
  if (alone) return { status: await alone(place), url: path };
  const provided = isProvided(path);
  const object = path.startsWith('/api/jira-') && /issues|comments|attachments/.test(path) ? 'theirs' : 'own';
  const key = provided && path.includes(':key') ? newKeyOf(place, path, object) : keyFor(path);
  const { deliveries } = place.keys as Json;
  if (method === 'DELETE') stopMachines();
  const url = path.replace(':key', key).replace(':delivery', deliveries.own.ST);
  const change = changedBodies[`${method} ${path}`];
  const body = change
    ? await change(place, url)
    : provided
      ? await changedProvided(path, method, object)
      : await bodies[`${method} ${path}`]?.(place, 'own', url);
  const response = await place.clients.ST.send(method, url, body);
  return { status: response.status, body: response.body, url };
}

for (const endpoint of documented)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const operation = endpoint.operations[method];
    if (!operation || operation.unaudited !== undefined) continue;
    const id = idOf(endpoint, method);
    if (`${method} ${endpoint.path}` in performedElsewhere) continue;
    test(`${method} ${endpoint.path}: ${id}`, async () => {
      await restore(place);
      const { body, status, url } = await perform(endpoint, method);
      const [record] = (await place.fixture.staff.get(`/api/audit/?page_size=1&operation=${id}`)).body;
      if (status >= 400 && isProvided(endpoint.path)) {
        // Its state or links prevent it here: test/app/docs/examples.test.ts performs it, and requires its record.
        assert.ok([400, 409].includes(status) && method !== 'DELETE', `${method} ${url}: ${status}`);
        assert.is(record, undefined);
        return;
      }
      assert.ok(status < 300, `${method} ${url}: ${status} ${JSON.stringify(body)}`);
      assert.equal([record?.operation, record?.outcome, record?.status], [id, 'done', status]);
    });
  }

test('names a test for each operation that it does not perform', () => {
  const operations = documented.flatMap(({ operations: own, path }) =>
    Object.keys(own).map((method) => `${method} ${path}`),
  );
  for (const [operation, reason] of Object.entries(performedElsewhere)) {
    assert.ok(operations.includes(operation), operation);
    const [file = ''] = reason.split(':');
    const folder = new URL(`../../${file.split('/').slice(0, -1).join('/')}/`, import.meta.url);
    const name = file.split('/').at(-1) ?? '';
    assert.ok(
      readdirSync(folder).some((entry) => entry.startsWith(name)),
      reason,
    );
  }
});

test('says why an operation has no record', () => {
  for (const { operations: own, path } of documented)
    for (const { unaudited } of Object.values(own))
      if (unaudited !== undefined) assert.match(unaudited, /^It .+\.$/, path);
});

test.run();
