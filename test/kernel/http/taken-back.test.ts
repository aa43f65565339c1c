/** Requests in the same commit as one that fails after a change. */
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { invalidationsOf } from '../../support/invalidations.ts';
import { suiteWithServer } from '../../support/suite.ts';
import { Wire } from '../../support/wire.ts';

const { test: takenBack, fixture } = suiteWithServer('taken back');

/** Makes the events of customers fail whose name begins with "Broken". Counts the inserted customers. */
function breakEvents(): { readonly inserted: () => number; readonly mend: () => void } {
  const { db } = fixture.server.app;
  const { run } = db;
  let inserted = 0;
  db.run = (change) => {
    if (change.text.startsWith('INSERT INTO customer ')) inserted++;
    if (/^\s*INSERT INTO event /.test(change.text) && change.values.some((value) => String(value).includes('Broken')))
      throw new Error('no room for this event');
    return run.call(db, change);
  };
  return { inserted: () => inserted, mend: () => (db.run = run) };
}

/** Sends requests at once over one connection; returns the status and body of each. */
async function together(requests: readonly (readonly [method: string, path: string, body?: unknown])[]) {
  const { hostname, port } = new URL(fixture.url);
  const wire = await Wire.to(fixture.url);
  const texts = requests.map(([method, path, body]) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    return [
      `${method} ${path} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Authorization: Token ${fixture.staff.token}`,
      ...(text ? ['Content-Type: application/json', `Content-Length: ${text.length}`] : []),
      '',
      text,
    ].join('\r\n');
  });
  wire.bytes(texts.join(''));
  const responses = [];
  for (const _ of requests) {
    const { body, status } = await wire.response();
    responses.push({ status, body: JSON.parse(body) });
  }
  wire.close();
  return responses;
}

const create = (name: string) => ['POST', '/api/customers/', { name }] as const;
const names = (customers: { name: string }[]) => customers.map(({ name }) => name);

takenBack('earlier requests of the batch get responses after its rollback, as if it had not existed', async () => {
  const broken = breakEvents();
  try {
    const responses = await together([
      create('First'),
      create('Second'),
      ['GET', '/api/customers/?o=name'],
      create('Broken'),
      create('Third'),
    ]);
    assert.equal(
      responses.map(({ status }) => status),
      [201, 201, 200, 500, 201],
    );
    assert.equal(names([0, 1, 4].map((i) => responses[i]?.body)), ['First', 'Second', 'Third']);
    assert.is(names(responses[2]?.body).includes('Broken'), false);
    assert.equal(names((await fixture.staff.get('/api/customers/?o=name')).body), ['First', 'Second', 'Third']);
    // Each acknowledged customer exists once, with its quotas and its one event.
    for (const i of [0, 1, 4]) {
      const { body } = await fixture.staff.get(responses[i]?.body.url);
      assert.equal(body, responses[i]?.body);
      assert.is(body.quotas.length, 11);
    }
    assert.equal(
      fixture
        .events()
        .map(({ context, type }) => [type, context.customer_name])
        .sort(),
      ['First', 'Second', 'Third'].map((name) => ['customer_creation_succeeded', name]),
    );
    const [count] = (await fixture.staff.get('/api/quotas/?name=nc_global_customer_count')).body;
    assert.is(count.usage, 3);
    // First and Second were created again.
    assert.is(broken.inserted(), 6);
  } finally {
    broken.mend();
  }
});

takenBack('an operation that has failed so does not roll back others again', async () => {
  const broken = breakEvents();
  try {
    const responses = await together([create('Fourth'), create('Broken again'), create('Fifth')]);
    assert.equal(
      responses.map(({ status }) => status),
      [201, 500, 201],
    );
    assert.is(broken.inserted(), 3);
    assert.equal(names((await fixture.staff.get('/api/customers/?o=name')).body), [
      'Fifth',
      'First',
      'Fourth',
      'Second',
      'Third',
    ]);
  } finally {
    broken.mend();
  }
});

takenBack('a request rejected before a change rolls back nothing', async () => {
  const { db } = fixture.server.app;
  const rollbacks = invalidationsOf(db);
  const customer = (await fixture.staff.get('/api/customers/?name=first')).body[0];
  const project = (name: string) => ['POST', '/api/projects/', { name, customer: customer.url }] as const;
  const responses = await together([project('One'), project(''), project('Two'), ['DELETE', '/api/projects/none/']]);
  assert.equal(
    responses.map(({ status }) => status),
    [201, 400, 201, 404],
  );
  assert.equal(
    fixture
      .events()
      .map(({ context, type }) => [type, context.project_name])
      .slice(-2),
    ['One', 'Two'].map((name) => ['project_creation_succeeded', name]),
  );
  assert.is(rollbacks(), 0);
});

takenBack('does not handle a committed request again with others', async () => {
  const { db } = fixture.server.app;
  const user = await fixture.user('waiting');
  fixture.events();
  const { run } = db;
  const touch = () => run.call(db, sql`UPDATE deployment SET id = id`);
  const touchAndFail = () => {
    touch();
    throw new Error('no');
  };
  let isFirst = true;
  db.run = (change) => {
    if (isFirst && change.text.startsWith('UPDATE user SET "password_hash"')) {
      isFirst = false;
      queueMicrotask(() => {
        db.commit();
        db.writeRepeatable(touch, () => undefined);
        // Runs after all microtasks, when the response already waits for the commit.
        process.nextTick(() => assert.throws(() => db.writeRepeatable(touchAndFail, () => undefined)));
      });
    }
    return run.call(db, change);
  };
  const rollbacks = invalidationsOf(db);
  try {
    const reply = await fixture.staff.post(`${user.url}password/`, { password: 'A-long-enough-1' });
    assert.is(reply.status, 200);
  } finally {
    db.run = run;
  }
  assert.is(rollbacks(), 1);
  assert.equal(
    fixture.events().map(({ context, type }) => [type, context.affected_user_username]),
    [['user_password_updated', 'waiting']],
  );
});

takenBack.run();
