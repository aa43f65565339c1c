import { spawn } from 'node:child_process';
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

/** The version of the npm package; Python's is in requirements.txt, Go's in go/go.mod. */
const nodeVersion = '1.1.1';

const idHeader = 'webhook-id';
const timeHeader = 'webhook-timestamp';
const signatureHeader = 'webhook-signature';

/** A message as a receiver passes it to a library. */
interface Message {
  readonly secret: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns a library's verdict on each message. */
type Library = (messages: readonly Message[]) => Promise<string[]>;

/** A message, and the verdict that every library must return. */
interface Case {
  readonly name: string;
  readonly message: Message;
  readonly isGenuine: boolean;
}

/** The public libraries of Standard Webhooks verify what the built program delivers over HTTP. */
export async function webhooks(steps: Steps): Promise<void> {
  const libraries = await steps.step('the libraries of npm, Python and Go are installed', install);
  const program = new Program(undefined);
  const receiver = await Receiver.start();
  try {
    const serving = await program.serve(['--ephemeral', '--hooks-allowed-networks', '127.0.0.1']);
    const staff = new Caller(serving.url, String(serving.startup.token));
    const genuine = await steps.step('the program delivers events, a form, a test, a retry and after a rotation', () =>
      deliver(staff, receiver),
    );
    const cases = genuine.flatMap(casesOf);
    for (const [name, verify] of Object.entries(libraries))
      await steps.step(`the library of ${name} accepts them, and rejects every forgery`, async () => {
        const verdicts = await verify(cases.map(({ message }) => message));
        assert.is(verdicts.length, cases.length);
        const wrong = cases.flatMap((one, i) =>
          (verdicts[i] === 'accepted') === one.isGenuine ? [] : [`${one.name}: ${verdicts[i]}`],
        );
        if (wrong.length > 0) throw new Error(wrong.join('\n'));
        const accepted = verdicts.filter((verdict) => verdict === 'accepted').length;
        print({ accepted, rejected: verdicts.length - accepted });
      });
    assert.is(await serving.stop(), 0);
  } finally {
    await receiver.close();
    await program.end();
  }
}

async function install(): Promise<Readonly<Record<string, Library>>> {
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

/** A library in a program that reads one message per line and prints one verdict per line. */
const library =
  (command: string, ...words: readonly string[]): Library =>
  async (messages) => {
    const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    child.stdin.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
    const [code] = await once(child, 'close');
    assert.is(code, 0, `${command} has failed`);
    return printed.trimEnd().split('\n');
  };

/** A received delivery, with every secret that must verify it. */
interface Delivery {
  readonly received: Received;
  readonly secrets: readonly string[];
}

/** Causes deliveries of every kind and returns them. */
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
  const add = (received: readonly Received[], ...secrets: readonly string[]): void => {
    matches.push(...received.map((one) => ({ received: one, secrets })));
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
  return matches;
}

/** A delivery with each of its secrets, and everything that a forger might alter. */
function casesOf({ received, secrets }: Delivery): readonly Case[] {
  const { body } = received;
  const header = (name: string): string => String(received.headers[name]);
  const headers = Object.fromEntries([idHeader, timeHeader, signatureHeader].map((name) => [name, header(name)]));
  const genuine = secrets.map(
    (secret): Case => ({ name: 'genuine', message: { secret, body, headers }, isGenuine: true }),
  );
  const [secret = ''] = secrets;
  const time = Number(header(timeHeader));
  const forge = (name: string, changes: Partial<Message>): Case => ({
    name,
    message: { secret, body, headers, ...changes },
    isGenuine: false,
  });
  const alter = (name: string, value: string | number): Case =>
    forge(`${name} ${value}`, { headers: { ...headers, [name]: String(value) } });
  const without = (name: string): Case =>
    forge(`without ${name}`, {
      headers: Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name)),
    });
  const wrongSecret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const [signature = ''] = header(signatureHeader).split(' ');
  return [
    ...genuine,
    forge('altered body', { body: `${body.slice(0, -1)}!` }),
    forge('longer body', { body: `${body} ` }),
    forge('wrong secret', { secret: wrongSecret }),
    alter(idHeader, `${header(idHeader)}0`),
    alter(timeHeader, time + 1),
    alter(timeHeader, time - 3600),
    alter(timeHeader, time + 3600),
    alter(
      signatureHeader,
      signature.replace(/^v1,(.)/, (_, first: string) => `v1,${first === 'A' ? 'B' : 'A'}`),
    ),
    alter(signatureHeader, signature.replace('v1,', 'v1a,')),
    ...[idHeader, timeHeader, signatureHeader].map(without),
  ];
}
