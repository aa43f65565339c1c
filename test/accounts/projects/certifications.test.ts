import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('certifications of a project (core.md 7.1, 7.6)');
let customer: Json;
let iso: Json;
let pci: Json;
let soc: Json;

test.before(async () => {
  customer = await fixture.customer('Alice');
  iso = await certification({ name: 'ISO 27001', description: 'Security', link: 'https://iso.example' });
  pci = await certification({ name: 'PCI' });
  soc = await certification({ name: 'SOC 2' });
});
test.before.each(() => {
  fixture.events();
});

/** Creates a certification and returns it as projects show it. */
async function certification(fields: Json): Promise<Json> {
  const { uuid, url, name, description, link } = (await fixture.staff.post('/api/service-certifications/', fields))
    .body;
  return { uuid, url, name, description, link };
}

const names = (project: Json): string[] => project.certifications.map((item: Json) => item.name);

test('creation accepts a list of links and returns complete objects, by name in descending order', async () => {
  const project = await fixture.project('Certified', customer, {
    certifications: [{ url: iso.url }, { url: soc.url }, { url: pci.url }],
  });
  assert.equal(project.certifications.map(Object.entries), [soc, pci, iso].map(Object.entries));
  assert.equal((await fixture.staff.get(project.url)).body.certifications, [soc, pci, iso]);
  assert.equal(
    fixture.events().map(({ type }) => type),
    ['project_creation_succeeded'],
  );
});

test('an update ignores certifications, even invalid ones', async () => {
  const project = await fixture.project('Stable', customer, { certifications: [{ url: pci.url }] });
  for (const certifications of [[], [{ url: iso.url }], 'nonsense', null, [{}]]) {
    assert.equal((await fixture.staff.patch(project.url, { certifications })).body, project);
    assert.equal((await fixture.staff.put(project.url, { ...project, certifications })).body, project);
  }
});

test('update_certifications replaces the set, an empty list clears it, and no event is recorded', async () => {
  const project = await fixture.project('Changing', customer, { certifications: [{ url: pci.url }] });
  fixture.events();
  const update = (certifications: unknown) =>
    fixture.staff.post(`${project.url}update_certifications/`, { certifications });
  const { status, body } = await update([{ url: iso.url }, { url: soc.url }]);
  assert.equal([status, body], [200, { ...project, certifications: [soc, iso] }]);
  assert.equal(
    names((await update([{ url: iso.url }, { url: iso.url }])).body),
    ['ISO 27001'],
    'the same one twice is one',
  );
  assert.equal((await update([])).body.certifications, []);
  assert.equal(fixture.events(), []);
});

test('accepts the representation of a certification as input', async () => {
  const project = await fixture.project('Back', customer, { certifications: [iso, soc] });
  const { body } = await fixture.staff.post(`${project.url}update_certifications/`, project);
  assert.equal(body, project);
});

test('accepts the list as JSON text in a form', async () => {
  const project = await fixture.project('Formed', customer);
  const url = `${project.url}update_certifications/`;
  const certifications = JSON.stringify([{ url: pci.url }]);
  const multipart = new FormData();
  multipart.set('certifications', certifications);
  for (const body of [new URLSearchParams({ certifications }), multipart]) {
    assert.equal(names((await fixture.staff.send('POST', url, body)).body), ['PCI']);
    assert.equal(
      (await fixture.staff.send('POST', url, new URLSearchParams({ certifications: '[]' }))).body.certifications,
      [],
    );
  }
  const wrong = await fixture.staff.send('POST', url, new URLSearchParams({ certifications: 'PCI' }));
  assert.equal([wrong.status, wrong.body], [400, { certifications: ['Expected a list of items but got type "str".'] }]);
});

test('reports errors at their position in the list; valid items are {}', async () => {
  const project = await fixture.project('Wrong', customer, { certifications: [{ url: pci.url }] });
  const undefinedUrl = ['URL has to be defined for related object.'];
  const noMatch = ['Invalid hyperlink - No URL match.'];
  const missing = iso.url.replace(iso.uuid, '0'.repeat(32));
  const cases: [unknown, unknown][] = [
    [{}, { certifications: ['This field is required.'] }],
    [{ certifications: null }, { certifications: ['This field may not be null.'] }],
    [{ certifications: 'x' }, { certifications: ['Expected a list of items but got type "str".'] }],
    [{ certifications: { url: iso.url } }, { certifications: ['Expected a list of items but got type "dict".'] }],
    [{ certifications: 5 }, { certifications: ['Expected a list of items but got type "int".'] }],
    [{ certifications: [{}] }, { certifications: [undefinedUrl] }],
    [{ certifications: [{ uuid: iso.uuid }] }, { certifications: [undefinedUrl] }],
    [{ certifications: [iso.url] }, { certifications: [undefinedUrl] }],
    [{ certifications: [null] }, { certifications: [undefinedUrl] }],
    [{ certifications: [{ url: 'x' }] }, { certifications: [noMatch] }],
    [{ certifications: [{ url: customer.url }] }, { certifications: [['Invalid hyperlink - Incorrect URL match.']] }],
    [{ certifications: [{ url: missing }] }, { certifications: [['Invalid hyperlink - Object does not exist.']] }],
    [{ certifications: [{ url: 5 }] }, { certifications: [['Incorrect type. Expected URL string, received int.']] }],
    [
      { certifications: [{ url: iso.url }, {}, { url: soc.url }, { url: 'x' }] },
      { certifications: [{}, undefinedUrl, {}, noMatch] },
    ],
  ];
  for (const [body, errors] of cases) {
    const response = await fixture.staff.post(`${project.url}update_certifications/`, body);
    assert.equal([response.status, response.body], [400, errors], JSON.stringify(body));
    if (Object.keys(body as object).length === 0) continue;
    const created = await fixture.staff.post('/api/projects/', {
      name: 'Never',
      customer: customer.url,
      ...(body as object),
    });
    assert.equal([created.status, created.body], [400, errors], JSON.stringify(body));
  }
  assert.equal(names((await fixture.staff.get(project.url)).body), ['PCI']);
  assert.equal((await fixture.staff.get('/api/projects/?name=Never')).body, []);
});

test('a deleted certification is no longer required', async () => {
  const gone = await certification({ name: 'Gone' });
  const project = await fixture.project('Relieved', customer, {
    certifications: [{ url: gone.url }, { url: iso.url }],
  });
  assert.is((await fixture.staff.delete(gone.url)).status, 204);
  assert.equal(names((await fixture.staff.get(project.url)).body), ['ISO 27001']);
});

test('serves only POST and OPTIONS', async () => {
  const project = await fixture.project('Posted', customer);
  const response = await fixture.staff.get(`${project.url}update_certifications/`);
  assert.equal([response.status, response.headers.get('allow')], [405, 'POST, OPTIONS']);
  const { body } = await fixture.staff.options(`${project.url}update_certifications/`);
  assert.equal(Object.keys(body.actions.POST), ['certifications']);
});

test.run();
