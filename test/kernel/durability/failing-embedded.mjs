/** Embeds a server whose disk fails once it has printed the acknowledged changes. failed-syncs.test.ts starts it. */
import { once } from 'node:events';

const [program, data, native_cache] = process.argv.slice(2);
const { createServer } = await import(program);
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const open = () => createServer({ data, native_cache, port: 0, log_level: 'silent' });

/** Sends a request as admin. Returns undefined if no server listens. */
async function ask(server, token, path, init) {
  const response = await fetch(server.url + path, { ...init, headers: { Authorization: `Token ${token}` } }).catch(
    () => undefined,
  );
  return response?.json();
}

const server = await open();
const token = server.issueToken();
const create = async (name) => {
  const response = await fetch(`${server.url}/api/customers/`, {
    method: 'POST',
    headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name }),
  }).catch(() => undefined);
  return response?.status === 201 ? (await response.json()).uuid : undefined;
};
const acknowledged = [await create('First'), await create('Second')];
print(acknowledged);
await once(process.stdin, 'data');
process.stdin.destroy();
await create('Lost');
// Do not handle the rejection earlier: even unhandled, it must not end the program.
await new Promise((resolve) => setTimeout(resolve, 200));
const { message, reason } = await server.closed.catch((error) => error);
print({ message, reason });
const isOpen = await ask(server, token, '/api/customers/');
const closing = await server.close().catch((error) => error.message);
print({ url: isOpen ? 'open' : 'closed', close: closing });
const again = await open();
const found = await Promise.all(acknowledged.map((uuid) => ask(again, token, `/api/customers/${uuid}/`)));
print(found.map(({ uuid }) => uuid));
await again.close();
await again.closed;
