/** Simultaneous clients, each with a separate connection. */
import * as assert from 'uvu/assert';
import { suiteWithServer } from '../../support/suite.ts';
import { Wire } from '../../support/wire.ts';

const { test: atOnce, fixture } = suiteWithServer('at once');

atOnce('new connections that write share commits, although each event-loop turn accepts one', async () => {
  const clients = 40;
  const { sizes } = fixture.server.app.db.commits;
  const commits = (): number => sizes.counts.reduce((sum, count) => sum + count, 0);
  const before = commits();
  const statuses = await Promise.all(
    Array.from({ length: clients }, async (_, i) => {
      const wire = await Wire.to(fixture.url);
      const body = JSON.stringify({ name: `At once ${i}` });
      const { host } = new URL(fixture.url);
      const head = [
        'POST /api/customers/ HTTP/1.1',
        `Host: ${host}`,
        `Authorization: Token ${fixture.staff.token}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
      ];
      const { status } = await wire
        .lines(...head, '')
        .bytes(body)
        .response();
      wire.close();
      return status;
    }),
  );
  assert.equal(statuses, Array(clients).fill(201));
  assert.ok(commits() - before <= clients / 2, `${commits() - before} commits`);
});

atOnce.run();
