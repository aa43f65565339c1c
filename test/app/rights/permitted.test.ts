/** core.md 1.10: the header X-Permitted of OPTIONS. */
import * as assert from 'uvu/assert';
import { asEachPersona, createPersonas, type Part, type Personas, sameExcept } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: permitted, fixture } = suiteWithServer('what OPTIONS says to be permitted');
let cast: Personas;

permitted.before(async () => {
  cast = await createPersonas(fixture);
});

const reports = (path: string): Promise<Record<Part, string | number | null>> =>
  asEachPersona(cast, async (client) => {
    const { headers, status } = await client.options(path);
    return status === 200 ? headers.get('x-permitted') : status;
  });

const all = 'PUT, PATCH, DELETE';

permitted('a list tells who may create', async () => {
  assert.equal(await reports('/api/customers/'), sameExcept<unknown>('', { staff: 'POST' }));
  // Whether a project can be created depends on the customer that the body names.
  assert.equal(await reports('/api/projects/'), sameExcept<unknown>('POST'));
});

permitted('an object tells each caller what they may do with it', async () => {
  assert.equal(await reports(cast.customer.url), sameExcept<unknown>('', { staff: all, stranger: 404 }));
  assert.equal(await reports(cast.project.url), sameExcept<unknown>('', { staff: all, owner: all, stranger: 404 }));
});

permitted('it is the right that is told: the state may still be in the way', async () => {
  assert.is((await fixture.staff.options(cast.customer.url)).headers.get('x-permitted'), all);
  assert.is((await fixture.staff.delete(cast.customer.url)).status, 409);
});

permitted('an action tells those who may take it what is in its way', async () => {
  const alert = { scope: cast.project.url, alert_type: 'disk_full', severity: 'Warning', message: 'The disk is full.' };
  const { url } = (await fixture.staff.post('/api/alerts/', alert)).body;
  const rejections = async (name: string): Promise<(string | null)[]> =>
    Promise.all(
      ['acknowledge/', 'cancel_acknowledgment/', 'close/'].map(async (action) =>
        (await fixture.as(name).options(url + action)).headers.get('x-refusal'),
      ),
    );
  assert.equal(await rejections('admin'), [null, 'Alert is not acknowledged.', null]);
  await fixture.staff.post(`${url}acknowledge/`);
  assert.equal(await rejections('admin'), ['Alert is already acknowledged.', null, null]);
  await fixture.staff.post(`${url}close/`);
  assert.equal(await rejections('admin'), ['Alert is already acknowledged.', null, 'Alert is already closed.']);
  assert.equal(await rejections('owner'), ['Alert is already acknowledged.', null, null]);
});

permitted.run();
