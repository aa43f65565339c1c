/** core.md 1.10: the header X-Permitted of OPTIONS. */
import * as assert from 'uvu/assert';
import { asEachPersona, createPersonas, type PersonaName, type Personas, sameExcept } from '../../support/personas.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test: permitted, fixture } = suiteWithServer('X-Permitted of OPTIONS');
let cast: Personas;

permitted.before(async () => {
  cast = await createPersonas(fixture);
});

const permissionsAt = (path: string): Promise<Record<PersonaName, string | number | null>> =>
  asEachPersona(cast, async (client) => {
    const { headers, status } = await client.options(path);
    return status === 200 ? headers.get('x-permitted') : status;
  });

const all = 'PUT, PATCH, DELETE';

permitted('lists in X-Permitted of a list whether the caller may create', async () => {
  assert.equal(await permissionsAt('/api/customers/'), sameExcept<unknown>('', { staff: 'POST' }));
  // The right to create a project depends on the customer in the body.
  assert.equal(await permissionsAt('/api/projects/'), sameExcept<unknown>('POST'));
});

permitted('lists in X-Permitted of an object the methods of each caller', async () => {
  assert.equal(await permissionsAt(cast.customer.url), sameExcept<unknown>('', { staff: all, stranger: 404 }));
  assert.equal(
    await permissionsAt(cast.project.url),
    sameExcept<unknown>('', { staff: all, owner: all, stranger: 404 }),
  );
});

permitted('lists a right also when the state of the object prevents the action', async () => {
  assert.is((await fixture.staff.options(cast.customer.url)).headers.get('x-permitted'), all);
  assert.is((await fixture.staff.delete(cast.customer.url)).status, 409);
});

permitted('names the reason that prevents an action, to callers with the right', async () => {
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
