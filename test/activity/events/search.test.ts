import * as assert from 'uvu/assert';
import type { Json } from '../../support/fixture.ts';
import { suiteWithServer } from '../../support/suite.ts';

const { test, fixture } = suiteWithServer('full-text search of events (events.md 4.7)');

/** Messages of the matching events, in the order of recording. */
async function matches(query: string): Promise<string[]> {
  const { status, body } = await fixture.staff.get(
    `/api/events/?o=@timestamp&page_size=300&search=${encodeURIComponent(query)}`,
  );
  assert.is(status, 200);
  assert.equal((await fixture.staff.get(`/api/events/count/?search=${encodeURIComponent(query)}`)).body, {
    count: body.length,
  });
  return body.map((event: Json) => event.message);
}

const notify = (message: string, level = 'info', scope?: Json) =>
  fixture.staff.post('/api/events/', { level, message, ...(scope && { scope: scope.url }) });

test('the words of the query match whole words, adjacent and in this order, ignoring case', async () => {
  for (const message of [
    'alice lebowski',
    'Alice T. Lebowski',
    'malice lebowski',
    'Lebowski Alice',
    'ALICE-LEBOWSKI!',
    'Alice; Lebowskis',
    'the (alice) lebowski case',
  ])
    await notify(message);
  assert.equal(await matches('Alice Lebowski'), ['alice lebowski', 'ALICE-LEBOWSKI!', 'the (alice) lebowski case']);
  assert.equal(await matches('"alice... LEBOWSKI"'), [
    'alice lebowski',
    'ALICE-LEBOWSKI!',
    'the (alice) lebowski case',
  ]);
  assert.equal(await matches('lebowski alice'), ['Lebowski Alice']);
});

test('there are no substrings, no stemming and no stop words', async () => {
  await notify('The servers are running');
  for (const nothing of ['server', 'run', 'serve*', 'runn']) assert.equal(await matches(nothing), []);
  for (const word of ['the servers', 'are']) assert.equal(await matches(word), ['The servers are running']);
  assert.equal(await matches('the'), ['the (alice) lebowski case', 'The servers are running']);
});

test('a word is a run of letters, marks, digits and underscores; other characters separate', async () => {
  await notify('disk_usage of host-7: 95% (db2.example)');
  for (const query of ['disk_usage', 'host 7', '7 95', 'db2 example', 'DB2.Example', 'of/host'])
    assert.equal(await matches(query), ['disk_usage of host-7: 95% (db2.example)'], query);
  for (const query of ['disk', 'usage', 'db', '2']) assert.equal(await matches(query), [], query);
});

test('query and texts are NFKC-normalised and lower-cased in every script', async () => {
  for (const message of ['Ünïted ﬁle №5', 'Привет Мир', '日本 語', 'Cafe\u0301 olé', 'ΟΔΟΣ']) await notify(message);
  assert.equal(await matches('u\u0308nïted FILE'), ['Ünïted ﬁle №5']);
  assert.equal(await matches('no5'), ['Ünïted ﬁle №5']);
  assert.equal(await matches('привет МИР'), ['Привет Мир']);
  assert.equal(await matches('日本'), ['日本 語']);
  assert.equal(await matches('café'), ['Cafe\u0301 olé']);
  assert.equal(await matches('cafe'), []);
});

test('searches message, customer abbreviation, importance, project name, and full and native name of the user separately', async () => {
  const customer = await fixture.customer('Big Customer', { abbreviation: 'BGC', contact_details: 'Harbour 9' });
  const project = await fixture.project('Deep Sea', customer);
  const user = await fixture.user('diver', {
    full_name: 'Jacques Cousteau',
    native_name: 'Жак Кусто',
    organization: 'Calypso',
  });
  await notify('About a project', 'info', project);
  await notify('About a user', 'info', user);
  assert.equal(await matches('deep sea'), ['Project Deep Sea has been created.', 'About a project']);
  assert.equal(await matches('bgc'), [
    'Customer Big Customer has been created.',
    'Project Deep Sea has been created.',
    'About a project',
  ]);
  assert.equal(await matches('jacques cousteau'), ['About a user']);
  assert.equal(await matches('жак кусто'), ['About a user']);
  for (const query of [
    'harbour',
    'big customer about',
    'calypso',
    'custom_notification',
    '127',
    'about a project deep',
    'sea bgc',
    'bgc deep',
    customer.uuid,
  ])
    assert.equal(await matches(query), [], query);
});

test('finds low, normal, high and very high by the level', async () => {
  const all = (await fixture.staff.get('/api/events/count/')).body.count;
  for (const level of ['debug', 'warning', 'error']) await notify(`At level ${level}`, level);
  assert.equal(await matches('low'), ['At level debug']);
  assert.is((await matches('Normal')).length, all);
  assert.equal(await matches('high'), ['At level warning', 'At level error']);
  assert.equal(await matches('very'), ['At level error']);
  assert.equal(await matches('very-high'), ['At level error']);
  await notify('A very high tower');
  assert.equal(await matches('very high'), ['At level error', 'A very high tower']);
});

test('a query without any word matches nothing; a blank query is ignored', async () => {
  for (const query of ['!!!', '"', '*', '- -', '😀']) assert.equal(await matches(query), [], query);
  const all = (await fixture.staff.get('/api/events/count/')).body.count;
  for (const query of ['', ' ', '\t '])
    assert.is((await fixture.staff.get(`/api/events/count/?search=${encodeURIComponent(query)}`)).body.count, all);
});

test('operators of the search engine are only separators', async () => {
  await notify('alpha AND beta');
  await notify('alpha beta');
  assert.equal(await matches('alpha AND beta'), ['alpha AND beta']);
  assert.equal(await matches('alpha" OR "beta'), []);
  assert.equal(await matches('alpha" "beta'), ['alpha beta']);
  assert.equal(await matches('words:alpha'), []);
  assert.equal(await matches('alpha | beta'), ['alpha beta']);
  assert.equal(await matches('NEAR(alpha beta)'), []);
});

test('accepts a query as long as a request may be', async () => {
  const long = Array.from({ length: 1500 }, (_, i) => `w${i}`).join(' ');
  await notify(long);
  assert.equal(await matches(long), [long]);
  assert.equal(await matches(`${long} end`), []);
});

test.run();
