/** Handlers read only query parameters that are in the document. */

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openApi } from '../../../src/app/docs/openapi.ts';
import { Query } from '../../../src/kernel/http/query.ts';
import { documented as endpoints, catalogue as types } from '../../support/catalogue.ts';
import type { Json } from '../../support/fixture.ts';
import { isProvided, newKeyOf, wordsOf } from '../rights/provided.ts';
import { type Situation, situation } from '../rights/situation.ts';

const parameters = suite('query parameters in the documentation');
const document: Json = openApi(endpoints, types);
/** Names that handlers have read since the set was last cleared. */
const requests = new Set<string>();
const original = { one: Query.prototype.one, all: Query.prototype.all, flag: Query.prototype.flag };
let place: Situation;

parameters.before(async () => {
  for (const name of ['one', 'all', 'flag'] as const) {
    const read = original[name] as (this: Query, parameter: string) => never;
    Query.prototype[name] = function (this: Query, parameter: string): never {
      requests.add(parameter);
      return read.call(this, parameter);
    };
  }
  place = await situation();
});
parameters.after(async () => {
  Object.assign(Query.prototype, original);
  await place.fixture.close();
});

/** Returns the URL of an object visible to staff. */
function addressOf(path: string): string {
  const first = (collection: string): string => {
    const [key] = Object.values(place.keys[collection] ?? {});
    return typeof key === 'object' ? (key.ST ?? Object.values(key)[0] ?? '') : (key ?? '');
  };
  const key = (): string =>
    isProvided(path) ? newKeyOf(place, path, wordsOf(path)[0] as string) : first(path.split('/')[2] as string);
  return path.replace(':key', key).replace(':delivery', () => first('deliveries'));
}

// Deletions run last, and parents after their parts.
const reading = endpoints.map((endpoint) => ['GET', endpoint] as const);
const deleting = [...endpoints]
  .sort((a, b) => Number(isProvided(b.path)) - Number(isProvided(a.path)))
  .map((endpoint) => ['DELETE', endpoint] as const);

for (const [method, endpoint] of [...reading, ...deleting]) {
  if (!endpoint.operations[method]) continue;
  parameters(`${method} ${endpoint.path} reads the documented parameters`, async () => {
    const operation = document.paths[endpoint.path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()];
    const written = (operation.parameters ?? []).map(({ $ref, name }: Json) => name ?? $ref.split('/').at(-1));
    const address = addressOf(endpoint.path);
    requests.clear();
    // Filters are read only with a query.
    await place.fixture.staff.send(method, `${address}?unknown`);
    // Lists of resources read all names, to find those with a known prefix.
    assert.equal(
      [...requests].filter((name) => !written.includes(name) && !(name === 'unknown' && written.includes('named'))),
      [],
    );
  });
}

parameters.run();
