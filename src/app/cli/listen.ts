import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { eventMembers } from '../../activity/events/events.ts';
import type { EventPayload } from '../../activity/hooks/payload.ts';
import { newSecret, signatureHeaders } from '../../activity/hooks/signature.ts';
import { readText } from '../../kernel/files.ts';
import { plainReason } from '../../kernel/present.ts';
import { urlOf } from '../../kernel/url.ts';
import { type Arguments, UsageError } from './command-line.ts';

export const listenFlags = {
  url: { type: 'string', value: 'URL', help: 'Read the events of this server' },
  'token-file': { type: 'string', value: 'FILE', help: 'Read the token of a user from this file' },
  'forward-to': { type: 'string', value: 'URL', help: 'Post each event to this URL' },
  secret: { type: 'string', value: 'SECRET', help: 'Sign with this secret (whsec_…); default: print a new one' },
} as const;

/** Delay before reopening a lost stream, and timeout of a forwarded request. */
const reconnectPauseMs = 3000;
const forwardTimeoutMs = 10_000;

interface Settings {
  readonly stream: URL;
  readonly target: URL;
  readonly token: string;
  readonly secret: string;
}

/** `tenantry listen`: posts events to a receiver, signed like web hooks, until stopped. Does not retry. */
export async function listen({ flags }: Arguments): Promise<void> {
  const settings = settingsOf(flags);
  let isConnected = false;
  let last: string | undefined;
  const onOpen = (): void => {
    if (isConnected) return;
    isConnected = true;
    print(`Forwarding the events of ${settings.stream.origin} to ${settings.target}`);
    if (flags.secret === undefined) print(`Secret: ${settings.secret}`);
  };
  for (;;) {
    const reason = await forwardStream(settings, last, onOpen, (id) => (last = id)).then(
      () => 'the server closed it',
      (error: unknown) => {
        if (error instanceof Rejected) throw error;
        return plainReason(error);
      },
    );
    print(`No event stream (${reason}). Reconnecting.`);
    await wait(reconnectPauseMs);
  }
}

/** The server rejects this token, or has no stream at this URL. */
class Rejected extends Error {}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Throws UsageError, or a readable error if the token file cannot be read. */
function settingsOf(flags: Arguments['flags']): Settings {
  const required = (name: string): string => {
    const value = flags[name];
    if (typeof value !== 'string' || value === '')
      throw new UsageError(`listen requires --${name}; see tenantry listen --help`);
    return value;
  };
  const address = (name: string): URL => {
    const url = urlOf(required(name));
    if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`--${name} must be an http or https URL`);
    return url;
  };
  const base = address('url');
  const file = required('token-file');
  const secret = flags.secret ?? newSecret('hmac', randomBytes).secret;
  if (typeof secret !== 'string' || !/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret))
    throw new UsageError('--secret must be whsec_ and base64');
  return {
    stream: new URL(`${base.pathname.replace(/\/$/, '')}/api/events/stream/`, base),
    target: address('forward-to'),
    token: readText(file, 'the token in ').trim(),
    secret,
  };
}

/** Forwards the events of one connection in order. Resolves when the server closes it. */
async function forwardStream(
  settings: Settings,
  last: string | undefined,
  onOpen: () => void,
  onEvent: (id: string) => void,
): Promise<void> {
  const { stream, token } = settings;
  const response = await fetch(stream, {
    headers: { Authorization: `Token ${token}`, ...(last !== undefined && { 'Last-Event-ID': last }) },
  });
  if (response.status === 429 || response.status >= 500) throw new Error(`the server responds with ${response.status}`);
  if (response.status !== 200 || !response.headers.get('content-type')?.startsWith('text/event-stream'))
    throw new Rejected(`${stream} responds with ${response.status}: ${(await response.text()).slice(0, 200)}`);
  onOpen();
  for await (const { data, id, type } of messagesIn(response.body as ReadableStream<Uint8Array>)) {
    if (type === 'gap') print('Events are missing here: the connection was lost for too long.');
    else if (data !== '') await forward(settings, JSON.parse(data));
    if (id !== '') onEvent(id);
  }
}

interface Message {
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/** Parses server-sent events (WHATWG HTML 9.2) as this server writes them: one line per field, a blank line after each event. */
async function* messagesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body as ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => splitField(line)));
      yield { id: fields.get('id') ?? '', type: fields.get('event') ?? '', data: fields.get('data') ?? '' };
    }
  }
}

const splitField = (line: string): [string, string] => {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
};

/** Builds the body of a web hook from an event of the stream. Its time has millisecond precision. */
function payloadOf(event: Readonly<Record<string, string>>): EventPayload {
  return {
    timestamp: (event['@timestamp'] ?? '').replace(/(\.\d+)?Z$/, (_, digits = '.') => digits.padEnd(7, '0')),
    message: event.message ?? '',
    type: event.type ?? '',
    context: Object.fromEntries(Object.entries(event).filter(([name]) => !eventMembers.includes(name))),
    levelname: event.levelname ?? '',
  };
}

/** Posts one event and prints the result. */
async function forward({ secret, target }: Settings, event: Readonly<Record<string, string>>): Promise<void> {
  const payload = payloadOf(event);
  const body = JSON.stringify(payload);
  const headers = signatureHeaders([secret], event.uuid ?? '', Date.now() * 1000, body);
  const result = await fetch(target, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(forwardTimeoutMs),
  }).then(
    async (response) => {
      await response.body?.cancel();
      return String(response.status);
    },
    (error: unknown) => plainReason(error),
  );
  print(`${payload.timestamp} ${payload.type}: ${result}`);
}
