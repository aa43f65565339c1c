/** The responses for a data folder, to compare with those of later versions for the same data. */

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer, settableClock } from 'tenantry';
import { eventStream } from '../../src/activity/events/stream-endpoint.ts';
import { ofTheService } from '../../src/app/docs/root.ts';
import { documented } from '../support/catalogue.ts';

/** Bodies, or statuses of errors, by user and path. */
export type Replies = Record<string, unknown>;

/** Users of the sample data: staff, and the owner of a customer. */
const readers = ['helena.kask', 'mari.tamm'];

/**
 * Lists that differ each time: a start sends reminders of expiries that approached while no server was running, and the audit
 * trail records starts and has a separate key per data folder.
 */
const unrepeatable = [eventStream.path, '/api/sessions/', '/api/notifications/'];

/** Paths that depend on the data. A stream never ends, and a login creates a session. */
const collections = documented
  .filter(({ operations, path }) => operations.GET && path.startsWith('/api/') && !path.includes(':'))
  .map(({ path }) => path)
  .filter(
    (path) =>
      !unrepeatable.includes(path) &&
      !path.startsWith('/api/audit/') &&
      !ofTheService.includes(path.split('/')[2] ?? ''),
  );

/** The files of a released version: a backup of the sample data, and its compressed responses. */
export const storedOf = (version: string): { backup: string; responses: string } => {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  return { backup: join(folder, `${version}.backup`), responses: join(folder, `${version}.json.gz`) };
};

/** Serves a folder at an instant as if no time had passed; returns the first page of every collection. */
export async function responsesOf(data: string, instant: number): Promise<Replies> {
  const server = await createServer({
    data,
    port: 0,
    base_url: 'http://tenantry.example',
    log_level: 'silent',
    clock: settableClock(instant),
  });
  try {
    // Pending work of that time has started, and the clock stands still.
    server.tick();
    await server.settled();
    const responses: Replies = {};
    for (const reader of readers) {
      const headers = { Authorization: `Token ${server.issueToken(reader)}` };
      for (const path of collections) {
        const response = await fetch(`${server.url}${path}?page_size=20`, { headers });
        const body = await response.text();
        responses[`${reader} ${path}`] = response.status === 200 ? JSON.parse(body) : response.status;
      }
    }
    return responses;
  } finally {
    await server.close();
  }
}
