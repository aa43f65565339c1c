import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { eventually } from '../../support/eventually.ts';
import type { Json } from '../../support/fixture.ts';
import { Program } from '../../support/program.ts';
import { type Received, Receiver } from '../../support/receiver.ts';
import { Caller } from '../caller.ts';
import { goProgram, nodePackage, pythonPrograms } from '../packages.ts';
import { print } from '../python.ts';
import type { Steps } from '../steps.ts';
import { type Message, manualReceivers, type Verifier } from './receivers.ts';

/** The version of the npm package; Python's is in requirements.txt, Go's in go/go.mod. */
const nodeVersion = '1.1.1';

const idHeader = 'webhook-id';
const timeHeader = 'webhook-timestamp';
const signatureHeader = 'webhook-signature';

/** A message, and the verdict that every library must return. */
interface Case {
  readonly name: string;
  readonly message: Message;
  readonly isGenuine: boolean;
}

/** The public libraries of Standard Webhooks and the manual's receivers verify deliveries of the built program. */
export async function webhooks(steps: Steps): Promise<void> {
  const libraries = await steps.step('the libraries of npm, Python and Go are installed', install);
  const receivers = await steps.step('the receivers of the manual are built', manualReceivers);
  const program = new Program(undefined);
  const receiver = await Receiver.start();
  try {
    const serving = await program.serve(['--ephemeral', '--hooks-allowed-networks', '127.0.0.1']);
    const staff = new Caller(serving.url, String(serving.startup.token));
    const genuine = await steps.step('the program delivers events, a form, a test, a retry and after a rotation', () =>
      deliver(staff, receiver),
    );
    const cases = genuine.flatMap(casesOf);
    // The libraries ignore v1a. The manual's receivers read only JSON.
    const isShared = ({ message }: Case): boolean => message.key.startsWith('whsec_');
    const isJson = ({ message }: Case): boolean => message.body.startsWith('{');
    for (const [name, verify] of Object.entries(libraries))
      await steps.step(`the library of ${name} accepts v1, and rejects every forgery`, () =>
        judge(verify, cases.filter(isShared)),
      );
    for (const [name, verify] of Object.entries(receivers))
      await steps.step(`the receiver in ${name} accepts v1 and v1a, and rejects every forgery`, () =>
        judge(verify, cases.filter(isJson)),
      );
    assert.is(await serving.stop(), 0);
  } finally {
    await receiver.close();
    await program.end();
  }
}

/** Throws for each case with a wrong verdict. Prints the counts. */
async function judge(verify: Verifier, cases: readonly Case[]): Promise<void> {
  const verdicts = await verify(cases.map(({ message }) => message));
  assert.is(verdicts.length, cases.length);
  const wrong = cases.flatMap((one, i) =>
    (verdicts[i] === 'accepted') === one.isGenuine ? [] : [`${one.name}: ${verdicts[i]}`],
  );
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  const accepted = verdicts.filter((verdict) => verdict === 'accepted').length;
  print({ accepted, rejected: verdicts.length - accepted });
}

async function install(): Promise<Readonly<Record<string, Verifier>>> {
  const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
  const node = await nodePackage('standardwebhooks', nodeVersion);
  const python = `${await pythonPrograms('webhooks')}/python`;
  const go = await goProgram('webhooks/go');
  return {
    npm: library(process.execPath, script('verify.mjs'), node),
    Python: library(python, script('verify.py')),
    Go: library(go),
  };
}

/** Runs a library in a program that reads one message per line and prints one verdict per line. */
const library =
  (command: string, ...words: readonly string[]): Verifier =>
  async (messages) => {
    const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    child.stdin.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
    const [code] = await once(child, 'close');
    assert.is(code, 0, `${command} has failed`);
    return printed.trimEnd().split('\n');
  };

const wrongSecret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const wrongPublicKey = `whpk_${Buffer.from(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')}`;

/** A received delivery, with every secret or public key that verifies it. */
interface Delivery {
  readonly received: Received;
  readonly keys: readonly string[];
}

/** Triggers deliveries of every kind; returns them. */
async function deliver(staff: Caller, receiver: Receiver): Promise<readonly Delivery[]> {
  const arrived = async (what: string, count = 1): Promise<Received[]> => {
    await eventually(what, () => receiver.requests.length >= count, 30);
    return receiver.take();
  };
  const hook = (fields: Json): Promise<Json> =>
    staff.post('/api/hooks-web/', {
      destination_url: `${receiver.url}/in`,
      event_types: ['customer_creation_succeeded', 'customer_update_succeeded'],
      ...fields,
    });
  const matches: Delivery[] = [];
  const add = (received: readonly Received[], ...keys: readonly string[]): void => {
    matches.push(...received.map((one) => ({ received: one, keys })));
  };

  const json = await hook({});
  const customer = await staff.post('/api/customers/', { name: 'Ülle & "Söhne" 株式会社 🚀' });
  await staff.ask(200, 'PATCH', customer.url, { native_name: 'Алиса\u2028' });
  add(await arrived('events as JSON', 2), json.secret);
  await staff.post(`${json.url}test/`, undefined, 202);
  add(await arrived('a test delivery'), json.secret);

  const { secret: rotated } = await staff.post(`${json.url}rotate_secret/`, undefined, 200);
  await staff.ask(200, 'PATCH', customer.url, { abbreviation: 'ÜS' });
  add(await arrived('an event after the rotation'), rotated, json.secret);
  await staff.ask(204, 'DELETE', json.url);

  const form = await hook({ content_type: 'form' });
  receiver.behaviour = 503;
  await staff.ask(200, 'PATCH', customer.url, { abbreviation: 'a=b&c' });
  const [first] = await arrived('an attempt that fails');
  receiver.behaviour = 200;
  const [second] = await arrived('its retry');
  assert.ok(first && second);
  assert.is(second.headers[idHeader], first.headers[idHeader]);
  assert.ok(Number(second.headers[timeHeader]) > Number(first.headers[timeHeader]));
  add([first, second], form.secret);
  await staff.ask(204, 'DELETE', form.url);

  const signed = await hook({ signature: 'ed25519' });
  await staff.ask(200, 'PATCH', customer.url, { native_name: 'Ирина' });
  add(await arrived('an event with an Ed25519 signature'), signed.public_key);
  const { public_key: next } = await staff.post(`${signed.url}rotate_secret/`, undefined, 200);
  await staff.ask(200, 'PATCH', customer.url, { abbreviation: 'ÜSÖ' });
  add(await arrived('an event after the rotation of the key'), next, signed.public_key);
  await staff.ask(200, 'PATCH', signed.url, { signature: 'hmac' });
  await staff.ask(200, 'PATCH', customer.url, { abbreviation: 'Ü' });
  add(await arrived('an event after the change to HMAC'), next);
  return matches;
}

/** A delivery with each of its keys, and with every alteration that a forger might try. */
function casesOf({ received, keys }: Delivery): readonly Case[] {
  const { body } = received;
  const header = (name: string): string => String(received.headers[name]);
  const headers = Object.fromEntries([idHeader, timeHeader, signatureHeader].map((name) => [name, header(name)]));
  const genuine = keys.map((key): Case => ({ name: 'genuine', message: { key, body, headers }, isGenuine: true }));
  const [key = ''] = keys;
  const time = Number(header(timeHeader));
  const forge = (name: string, changes: Partial<Message>): Case => ({
    name,
    message: { key, body, headers, ...changes },
    isGenuine: false,
  });
  const alter = (name: string, value: string | number): Case =>
    forge(`${name} ${value}`, { headers: { ...headers, [name]: String(value) } });
  const without = (name: string): Case =>
    forge(`without ${name}`, {
      headers: Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name)),
    });
  const [signature = ''] = header(signatureHeader)
    .split(' ')
    .filter((one) => one.startsWith(key.startsWith('whpk_') ? 'v1a,' : 'v1,'));
  const [version = '', value = ''] = signature.split(',');
  return [
    ...genuine,
    forge('altered body', { body: `${body.slice(0, -1)}!` }),
    forge('longer body', { body: `${body} ` }),
    forge('wrong key', { key: key.startsWith('whpk_') ? wrongPublicKey : wrongSecret }),
    alter(idHeader, `${header(idHeader)}0`),
    alter(timeHeader, time + 1),
    alter(timeHeader, time - 3600),
    alter(timeHeader, time + 3600),
    alter(signatureHeader, `${version},${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`),
    alter(signatureHeader, `${version === 'v1' ? 'v1a' : 'v1'},${value}`),
    ...[idHeader, timeHeader, signatureHeader].map(without),
  ];
}
