/**
 * Kills the server repeatedly while alerts open and a mail server fails at random, and checks that no notification is lost.
 *
 * At the end each acknowledged alert has one notification and one mail, which the mail server accepted at least once, always
 * under the same Message-ID. Throws a readable error otherwise.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import type { SMTPServerOptions } from 'smtp-server';
import { sql } from '../../src/kernel/db/sql.ts';
import { Mailbox } from '../support/mailbox.ts';
import { ask, login, pause, repeatUntilKilled, startServer, withServerAhead } from './kill.ts';
import type { Part } from './part.ts';

export interface NotificationFigures {
  readonly rounds: number;
  /** Acknowledged alerts, and those without a response because of a kill. */
  readonly alerts: number;
  readonly unanswered: number;
  readonly mails: number;
  /** Mails that the mail server accepted several times. */
  readonly repeated: number;
}

/** Shares of mails that the mail server rejects temporarily, and that it accepts without confirming. */
const rejected = 0.1;
const unconfirmed = 0.2;

/** More than the alerts per hour. */
const mailLimit = 1_000_000;

/** Runs the rounds with the program that this command starts. */
export async function killNotifications(rounds: number, program: readonly string[]): Promise<NotificationFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-chaos-'));
  const ledger = new Ledger();
  const mailbox = await Mailbox.start(ledger.options);
  const { email_from, smtp_url } = mailbox.settings;
  const words = ['--smtp-url', smtp_url, '--email-from', email_from, '--notification-mail-limit', String(mailLimit)];
  const acknowledged: string[] = [];
  let [unanswered, sent] = [0, 0];
  let token = '';
  let scope = '';
  try {
    for (let round = 1; round <= rounds; round++) {
      const server = await startServer(program, folder, words);
      if (round === 1) {
        token = await login(server.url, folder);
        scope = await createCustomer(server.url, token);
      }
      unanswered += await repeatUntilKilled(server, async (url) => {
        const message = `Alert ${++sent}`;
        const body = { scope, alert_type: message, message, severity: 'Error' };
        await created(url, token, '/api/alerts/', body);
        acknowledged.push(message);
      });
    }
    ledger.isReliable = true;
    const mails = await withServerAhead(
      folder,
      { smtp_url, email_from, notification_mail_limit: mailLimit },
      ({ app: { db } }) =>
        ledger.compare(
          acknowledged,
          db.all(sql`
            SELECT n.detail AS message, m.uuid, m.status
            FROM notification n LEFT JOIN notification_mail m ON m.id = n.mail_id WHERE n.kind = 'alert_opened'`),
        ),
    );
    return { rounds, alerts: acknowledged.length, unanswered, mails, repeated: ledger.repeated };
  } finally {
    await mailbox.close();
    rmSync(folder, { recursive: true });
  }
}

async function created(url: string, token: string, path: string, fields: object): Promise<{ url: string }> {
  const { body, status } = await ask(url, token, 'POST', path, fields);
  if (status !== 201) throw new Error(`POST ${path} returned ${status}: ${JSON.stringify(body)}`);
  // Each start has a different port.
  return { url: new URL((body as { url: string }).url).pathname };
}

/** Creates a customer with an owner who receives mails; returns its path. */
async function createCustomer(url: string, token: string): Promise<string> {
  const customer = await created(url, token, '/api/customers/', { name: 'Acme' });
  const user = await created(url, token, '/api/users/', { username: 'alice', email: 'alice@example.com' });
  await created(url, token, '/api/customer-permissions/', { customer: customer.url, user: user.url, role: 'owner' });
  return customer.url;
}

interface Stored {
  readonly message: string;
  readonly uuid: string | null;
  readonly status: string | null;
}

/** Returns the mails that the mail server has accepted. */
class Ledger {
  /** Stop failing. */
  isReliable = false;
  repeated = 0;
  /** Message-IDs by alert. */
  readonly #accepted = new Map<string, Set<string>>();

  readonly options: SMTPServerOptions = {
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (this.#happens(rejected)) return done(Object.assign(new Error('Try again later'), { responseCode: 451 }));
        void PostalMime.parse(Buffer.concat(chunks)).then(async ({ messageId = '', text = '' }) => {
          this.#accept(messageId, text);
          if (this.#happens(unconfirmed)) done(Object.assign(new Error('Lost'), { responseCode: 451 }));
          else await pause(5 * Math.random()).then(() => done());
        });
      });
    },
  };

  #happens(share: number): boolean {
    return !this.isReliable && Math.random() < share;
  }

  #accept(id: string, text: string): void {
    for (const [alert] of text.matchAll(/Alert \d+/g)) {
      const ids = this.#accepted.get(alert);
      if (ids?.has(id)) this.repeated++;
      if (ids) ids.add(id);
      else this.#accepted.set(alert, new Set([id]));
    }
  }

  /** Throws unless each acknowledged alert has one notification with one mail that was accepted. Returns the number of mails. */
  compare(acknowledged: readonly string[], stored: readonly Stored[]): number {
    const byAlert = new Map(stored.map((row) => [row.message, row]));
    if (byAlert.size !== stored.length) throw new Error(`${byAlert.size} alerts have ${stored.length} notifications`);
    for (const alert of acknowledged)
      if (!byAlert.has(alert)) throw new Error(`The alert "${alert}", which was acknowledged, has no notification`);
    for (const { message, status, uuid } of stored) {
      const ids = [...(this.#accepted.get(message) ?? [])];
      if (status !== 'delivered' || ids.length === 0)
        throw new Error(`The mail about "${message}" is ${status}; it was accepted ${ids.length} times`);
      if (ids.length !== 1 || uuid === null || !ids[0]?.includes(uuid))
        throw new Error(`The mail about "${message}", ${uuid}, was sent as ${ids.join(', ')}`);
    }
    return stored.length;
  }
}

export const notifications: Part = ({ program, rounds }) => killNotifications(rounds, program);
