/** providers.md 7.4: attachments. */
import * as assert from 'uvu/assert';
import { sql } from '../../../../src/kernel/db/sql.ts';
import type { Client, Json } from '../../../support/fixture.ts';
import { asEachPersona } from '../../../support/personas.ts';
import { collectStates, work } from '../../../support/simulated.ts';
import { suiteWithServer } from '../../../support/suite.ts';
import { type Jira, startJira } from './support.ts';

const { test: attachments, fixture } = suiteWithServer('JIRA attachments');
let jira: Jira;
let issue: Json;

attachments.before(async () => {
  jira = await startJira(fixture);
  issue = await jira.issue();
});

const path = '/api/jira-attachments/';

const upload = (client: Client, content: string | Uint8Array<ArrayBuffer>, name = 'log.txt') => {
  const form = new FormData();
  form.set('issue', issue.url);
  form.set('file', new Blob([content], { type: 'text/plain' }), name);
  return client.send('POST', path, form);
};

attachments('stores a file locally and then at JIRA: 201, Creation Scheduled, Creating, OK', async () => {
  const { clients, fixture, users } = jira;
  const response = await upload(clients.owner, 'It broke.');
  const attachment = response.body;
  const expected = {
    url: `${fixture.url}${path}${attachment.uuid}/`,
    uuid: attachment.uuid,
    issue: issue.url,
    file: `${fixture.url}${path}${attachment.uuid}/file/`,
    name: 'log.txt',
    size: 9,
    user: users.owner.url,
    created: attachment.created,
    state: 'Creation Scheduled',
    error_message: '',
  };
  assert.equal([response.status, attachment], [201, expected]);
  assert.equal(await collectStates(fixture, attachment.url), ['Creation Scheduled', 'Creating', 'OK']);
  assert.equal((await clients.owner.get(attachment.url)).body, { ...expected, state: 'OK' });
  const atJira =
    fixture.server.app.db.value<string>(sql`SELECT "values" FROM simulated_object WHERE kind = 'Attachment'`) ?? '{}';
  const { issue: key, name, size } = JSON.parse(atJira);
  assert.equal({ key, name, size }, { key: issue.key, name: 'log.txt', size: 9 });
});

attachments('the file can be downloaded, and browsers never display it as a page', async () => {
  const { body } = await upload(jira.clients.owner, '<script>alert(1)</script>', "façade 'x'.html");
  const file = await jira.clients.owner.get(body.file);
  assert.equal([file.status, file.body], [200, '<script>alert(1)</script>']);
  assert.is(file.headers.get('content-type'), 'application/octet-stream');
  assert.is(file.headers.get('content-disposition'), "attachment; filename*=UTF-8''fa%C3%A7ade%20%27x%27.html");
  assert.is(file.headers.get('x-content-type-options'), 'nosniff');
  assert.is((await jira.clients.manager.get(body.file)).status, 404);
});

attachments('creation requires an issue and a file in a multipart body', async () => {
  const { clients } = jira;
  const required = ['This field is required.'];
  assert.equal((await clients.owner.post(path, {})).body, { issue: required, file: required });
  assert.equal((await clients.owner.post(path, { issue: issue.url, file: 'text' })).body, {
    file: ['The submitted data was not a file. Check the encoding type on the form.'],
  });
  assert.equal((await upload(clients.owner, '')).body, { file: ['The submitted file is empty.'] });
});

attachments('a file has at most 10 MiB', async () => {
  const { clients } = jira;
  const most = 10 * 1024 * 1024;
  const largest = await upload(clients.owner, new Uint8Array(most));
  assert.equal([largest.status, largest.body.size], [201, most]);
  const larger = await upload(clients.owner, new Uint8Array(most + 1));
  assert.equal([larger.status, larger.body], [413, { detail: 'Request body is too large.' }]);
  assert.is((await upload(clients.owner, new Uint8Array(most + 100_000))).status, 413);
  await work(jira.fixture);
  assert.is((await clients.owner.get(largest.body.url)).body.state, 'OK');
});

attachments('updates are not served', async () => {
  const { body } = await upload(jira.clients.owner, 'x');
  for (const method of ['PUT', 'PATCH'])
    assert.is((await jira.clients.owner.send(method, body.url, {})).status, 405, method);
  assert.is((await jira.clients.owner.get(body.url)).headers.get('allow'), 'GET, DELETE, HEAD, OPTIONS');
});

attachments('deletes the attachment at JIRA, then its bytes: 202, Deletion Scheduled, Deleting, removed', async () => {
  const { clients, fixture } = jira;
  await work(fixture);
  const { body } = await upload(clients.owner, 'x');
  await work(fixture);
  const { db } = fixture.server.app;
  const files = (): unknown => db.value(sql`SELECT count(*) FROM jira_attachment_file`);
  const before = files();
  assert.equal((await clients.owner.delete(body.url)).body, { detail: 'Deletion was scheduled.' });
  assert.equal(await collectStates(fixture, body.url), ['Deletion Scheduled', 'Deleting', 'gone']);
  assert.is(files(), (before as number) - 1);
});

attachments(
  'staff, owners, managers and administrators of the project attach files to issues that they see',
  async () => {
    const statuses = await asEachPersona(jira, async (client) => (await upload(client, 'x')).status);
    assert.equal(statuses, {
      staff: 201,
      support: 403,
      owner: 201,
      helper: 400,
      manager: 400,
      admin: 400,
      observer: 400,
      stranger: 400,
    });
    await work(jira.fixture);
  },
);

attachments(
  'staff and global support see every attachment, others their own; staff delete every one, others their own',
  async () => {
    const { body: mine } = await upload(jira.clients.owner, 'x');
    await work(jira.fixture);
    const reading = await asEachPersona(jira, async (client) => (await client.get(mine.url)).status);
    assert.equal(reading, {
      staff: 200,
      support: 200,
      owner: 200,
      helper: 404,
      manager: 404,
      admin: 404,
      observer: 404,
      stranger: 404,
    });
    const deleting = await asEachPersona(jira, async (client, part) =>
      part === 'staff' ? 0 : (await client.delete(mine.url)).status,
    );
    assert.equal(deleting, {
      staff: 0,
      support: 403,
      owner: 202,
      helper: 404,
      manager: 404,
      admin: 404,
      observer: 404,
      stranger: 404,
    });
    const uploads = (await jira.clients.owner.get(`${path}?issue=${issue.url}`)).body;
    assert.ok(uploads.length > 0 && uploads.every(({ user }: Json) => user === jira.users.owner.url));
  },
);

attachments.run();
