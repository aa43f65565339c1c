/** Measures the decisions about waiting: unresponsive name servers, the queue of password hashes, the thread for SAML messages. */

import { stat } from 'node:fs/promises';
import { verify } from '@node-rs/argon2';
import { createServer } from 'tenantry';
import { checkLogout } from '../../../src/accounts/session/saml/logout-message.ts';
import { samlThread } from '../../../src/accounts/session/saml/saml-thread.ts';
import type { TaskInput } from '../../../src/accounts/session/saml/tasks.ts';
import { fairResolver, type Resolver } from '../../../src/kernel/net/resolver.ts';
import {
  type ConcurrencyLimit,
  concurrencyLimit,
  DeliveryWorker,
  type Outbox,
} from '../../../src/kernel/outbox/delivery-worker.ts';
import type { Outcome } from '../../../src/kernel/outbox/outcome.ts';
import { PasswordHasher } from '../../../src/kernel/security/passwords.ts';
import { certificateText } from '../../support/identity-provider.ts';
import { providerKeys } from '../../support/saml-keys.ts';
import { median } from '../report.ts';
import { alternate, type Measure, turn, used } from './comparison.ts';

const rounds = 5;
/**
 * Timeout for unresponsive name servers of the simulated machine, in milliseconds. Real timeouts are some hundred times as long.
 */
const timeout = 50;
const silentNames = 10;
const logins = 60;
/** Hooks with a pending delivery, and the CPU time of starting one, in microseconds. */
const dueQueues = 300;
const beginning = 100;

export const network: Measure = async () => [
  {
    page: 'silent-name-servers',
    what: `A name behind ${silentNames} unresponsive ones, of ${timeout} ms each`,
    unit: 'ms',
    ...(await alternate(
      rounds,
      () => {
        const machine = machineResolver();
        return resolveTime(fairResolver(machine, (hostname, callback) => setTimeout(callback, 1, !isSilent(hostname))));
      },
      () => resolveTime(machineResolver()),
    )),
  },
  {
    page: 'login-queues',
    what: `A file access while ${logins} passwords are checked`,
    unit: 'ms',
    ...(await alternate(
      rounds,
      async () => {
        const hasher = new PasswordHasher();
        const stored = await hasher.hash('correct horse');
        return fileAccessTime(() => hasher.matches('correct horse', stored));
      },
      async () => {
        const stored = await new PasswordHasher().hash('correct horse');
        return fileAccessTime(() => verify(stored, 'correct horse'));
      },
    )),
  },
  {
    page: 'login-queues',
    what: 'Time difference between failed logins of unknown and existing users',
    unit: 'ms',
    ...(await alternate(
      rounds,
      () => difference(true),
      () => difference(false),
    )),
  },
  {
    page: 'bounded-turns',
    what: `The longest event-loop turn while ${dueQueues} deliveries start, ${beginning} µs each`,
    unit: 'ms',
    ...(await alternate(rounds, maxTurn, allAtOnce)),
  },
  {
    page: 'login-queues',
    what: 'The longest wait of other requests while a SAML message is checked',
    unit: 'ms',
    ...(await compareChecking()),
  },
];

/** A logout request of the maximum size, with a long signature of an unknown key. */
const largeMessage = (): TaskInput<'checkLogout'> => {
  const algorithm = (element: string, name: string): string => `<${element} Algorithm="${name}"/>`;
  const reference = `<Reference URI="#_1">${algorithm('DigestMethod', 'http://www.w3.org/2001/04/xmlenc#sha256')}<DigestValue>YQ==</DigestValue></Reference>`;
  const info = [
    algorithm('CanonicalizationMethod', 'http://www.w3.org/2001/10/xml-exc-c14n#'),
    algorithm('SignatureMethod', 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'),
    reference,
    `<a b="${'&amp;'.repeat(120)}" c="1" d="2"/>`.repeat(280),
  ].join('');
  const signature = `<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo>${info}</SignedInfo><SignatureValue>${Buffer.alloc(256).toString('base64')}</SignatureValue></Signature>`;
  const xml = `<p:LogoutRequest xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol" ID="_1">${signature}</p:LogoutRequest>`;
  return {
    raw: { parameter: 'SAMLRequest', base64: Buffer.from(xml).toString('base64'), query: undefined },
    certificates: [certificateText(providerKeys)],
    destination: '',
    now: 0,
  };
};

async function compareChecking(): Promise<{ decision: number; without: number }> {
  const thread = samlThread();
  const message = largeMessage();
  const messageOf = (error: Error): string => error.message;
  const inThread = (): Promise<unknown> =>
    thread.run({ name: 'checkLogout', input: message }, { holder: '', milliseconds: 60_000 }).catch(messageOf);
  const here = async (): Promise<unknown> => checkLogout(message);
  const [there, same] = [await inThread(), await here().catch(messageOf)];
  if (there !== 'no known key matches the signature' || same !== there) throw new Error(`${there}, ${same}`);
  const figures = await alternate(
    rounds,
    () => maxWait(inThread),
    () => maxWait(() => here().catch(messageOf)),
  );
  await thread.close();
  return figures;
}

/** Returns the longest time in milliseconds for which the event loop is blocked. */
async function maxWait(work: () => Promise<unknown>): Promise<number> {
  let isDone = false;
  let longest = 0;
  let last = performance.now();
  const done = turn()
    .then(work)
    .then(() => (isDone = true));
  while (!isDone) {
    await turn();
    const present = performance.now();
    longest = Math.max(longest, present - last);
    last = present;
  }
  await done;
  return longest;
}

/**
 * Returns the CPU time in milliseconds between the rejections of a wrong password and of an unknown user, the latter with equal
 * work or none.
 */
async function difference(isSameWork: boolean): Promise<number> {
  const hasher = new PasswordHasher();
  const stored = await hasher.hash('correct horse');
  const spent = async (check: () => Promise<boolean>): Promise<number> => {
    const started = used();
    await check();
    return (used() - started) / 1000;
  };
  const [known, unknown]: [number[], number[]] = [[], []];
  for (let i = 0; i < 11; i++) {
    known.push(await spent(() => hasher.matches('wrong horse', stored)));
    unknown.push(await spent(() => (isSameWork ? hasher.matches('wrong horse', null) : Promise.resolve(false))));
  }
  return Math.abs(median(known) - median(unknown));
}

/** An outbox whose queues have one pending delivery each. A delivery takes some CPU time to start and then ends. */
class DueOutbox implements Outbox<{ readonly uuid: string }> {
  readonly name = 'hooks';
  readonly #lane = concurrencyLimit(dueQueues);
  readonly #begun = new Set<number>();
  due = () => ({ queues: Array.from({ length: dueQueues }, (_, i) => i), isMore: false });
  limitOf = (): ConcurrencyLimit => this.#lane;
  send = async (): Promise<Outcome> => ({ status: 'delivered' }) as Outcome;
  settle = (): void => undefined;
  close = (): void => undefined;

  next(queue: number): { readonly uuid: string } | undefined {
    if (this.#begun.has(queue)) return undefined;
    this.#begun.add(queue);
    const until = used() + beginning;
    while (used() < until);
    return { uuid: String(queue) };
  }
}

/** Returns the CPU time in milliseconds of the longest event-loop turn while all pending deliveries start. */
async function maxTurn(): Promise<number> {
  const server = await createServer({ ephemeral: true, port: 0, log_level: 'silent' });
  const deliverer = new DeliveryWorker(server.app, new DueOutbox());
  let isDone = false;
  let longest = 0;
  deliverer.poll();
  const done = deliverer.idle().then(() => (isDone = true));
  while (!isDone) {
    const started = used();
    await turn();
    longest = Math.max(longest, (used() - started) / 1000);
  }
  await done;
  await server.close();
  return longest;
}

/** The same when all deliveries start in one turn. */
function allAtOnce(): number {
  const outbox = new DueOutbox();
  const started = used();
  for (const queue of outbox.due().queues) outbox.next(queue);
  return (used() - started) / 1000;
}

const isSilent = (hostname: string): boolean => hostname.startsWith('silent');

/** Resolves two names at a time, like the operating system, and cannot be cancelled. */
function machineResolver(): Resolver {
  const waiting: (() => void)[] = [];
  let running = 0;
  const next = (): void => {
    while (running < 2 && waiting.length > 0) {
      running++;
      waiting.shift()?.();
    }
  };
  return (hostname, callback) => {
    waiting.push(() =>
      setTimeout(
        () => {
          running--;
          callback(null, [{ address: '192.0.2.1', family: 4 }]);
          next();
        },
        isSilent(hostname) ? timeout : 1,
      ),
    );
    next();
  };
}

/** Milliseconds until a name resolves that was requested after the unresponsive ones. */
async function resolveTime(resolve: Resolver): Promise<number> {
  const find = (hostname: string): Promise<void> => new Promise((done) => resolve(hostname, () => done()));
  const silent = Array.from({ length: silentNames }, (_, i) => find(`silent-${i}.example`));
  const started = performance.now();
  await find('quick.example');
  const milliseconds = performance.now() - started;
  await Promise.all(silent);
  return milliseconds;
}

/** Milliseconds of a file access, which waits for the same threads as the password checks. */
async function fileAccessTime(check: () => Promise<boolean>): Promise<number> {
  const checks = Array.from({ length: logins }, check);
  const started = performance.now();
  await stat(import.meta.filename);
  const milliseconds = performance.now() - started;
  await Promise.all(checks);
  return milliseconds;
}
