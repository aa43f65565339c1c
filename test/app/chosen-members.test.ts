/** `field=` with more values than a list may have (core.md 1.1, 1.2, 1.9), on all paths that read it. */
import * as assert from 'uvu/assert';
import { endpoints } from '../support/catalogue.ts';
import { suiteWithServer } from '../support/suite.ts';

const { test, fixture } = suiteWithServer('too many chosen members');
const query = `?${Array.from({ length: 101 }, (_, number) => `field=f${number}`).join('&')}`;
const tooMany = { field: ['Ensure this list has no more than 100 values.'] };

const selectable = endpoints.filter(({ operations, path }) => operations.GET?.selectable && !/:(?!key)/.test(path));

test('responds 404 to an unknown object with any parameters', async () => {
  const paths = selectable.filter(({ path }) => path.includes(':key')).map(({ path }) => path);
  assert.ok(paths.length > 40);
  for (const path of paths) {
    const unknown = path.replace(':key', /permissions|\/jobs\//.test(path) ? '999999' : '0'.repeat(32));
    const { status } = await fixture.staff.get(unknown + query);
    assert.is(status, 404, unknown);
  }
});

test('responds 400 for a list and for the stream of events', async () => {
  const paths = selectable.filter(({ path }) => /^\/api\/[a-z-]+\/$|^\/api\/events\/stream\/$/.test(path));
  assert.ok(paths.some(({ path }) => path === '/api/events/stream/'));
  await fixture.staff.post('/api/events/', { level: 'info', message: 'Hello' });
  for (const { path } of paths) {
    const { body, headers, status } = await fixture.staff.get(path + query);
    if (headers.get('x-result-count') === '0') continue;
    assert.equal([path, status, body], [path, 400, tooMany]);
  }
});

test.run();
