/** The program that `npm install` runs to fetch the SQLite binary, against a local copy of the releases. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { certificate } from '../support/certificate.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const source = join(project, 'node_modules/better-sqlite3');
const addon = readFileSync(join(source, 'build/Release/better_sqlite3.node'));
const path = 'build/Release/better_sqlite3.node';
const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string };
const { glibcVersionRuntime } = (process.report.getReport() as unknown as { header: Record<string, string> }).header;
const platform = `${process.platform}${process.platform === 'linux' && !glibcVersionRuntime ? 'musl' : ''}`;
const archive = `/v${version}/better-sqlite3-v${version}-node-v${process.versions.modules}-${platform}-${process.arch}.tar.gz`;

const test = suite('prebuilt binary');
let folder: string;
let requests: string[];
const servers: Server[] = [];

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-prebuilt-'));
  copyFileSync(join(source, 'package.json'), join(folder, 'package.json'));
  requests = [];
});

test.after.each(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
  rmSync(folder, { recursive: true });
});

/** Builds a tar archive with one file, after a folder and another file. */
function archiveOf(name: string, bytes: Buffer): Buffer {
  const entry = (entryName: string, content: Buffer, type: string): Buffer => {
    const header = Buffer.alloc(512);
    header.write(entryName);
    header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write(type, 156);
    return Buffer.concat([header, content, Buffer.alloc(-content.length & 511)]);
  };
  const none = Buffer.alloc(0);
  const entries = [entry('build/', none, '5'), entry('build/notes', Buffer.from('x'), '0'), entry(name, bytes, '0')];
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)]), { level: 1 });
}

/** Starts a server on the loopback and returns its port. */
async function listen(server: Server): Promise<number> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const answering =
  (answer: RequestListener): RequestListener =>
  (request, response) => {
    requests.push(String(request.url));
    answer(request, response);
  };

const releases = async (answer: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listen(createServer(answering(answer)))}`;

/** Runs the program and returns its exit code and output. */
async function install(env: NodeJS.ProcessEnv): Promise<{ code: number; output: string }> {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_|proxy/i.test(name));
  const program = join(project, 'src/build/prebuild-install/prebuild-install.mjs');
  const child = spawn(process.execPath, [program], { cwd: folder, env: { ...Object.fromEntries(own), ...env } });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

const binaryHost = 'npm_config_better_sqlite3_binary_host';
const failed = (why: string) => ({ code: 1, output: `No prebuilt binary is used: ${why}\n` });

test('installs the binary for this platform from a release, after redirects', async () => {
  const host = await releases((request, response) => {
    if (request.url === archive) response.writeHead(302, { location: '/stored?key=1' }).end();
    else response.end(archiveOf(path, addon));
  });
  assert.equal(await install({ [binaryHost]: host }), { code: 0, output: '' });
  assert.equal(requests, [archive, '/stored?key=1']);
  assert.ok(readFileSync(join(folder, path)).equals(addon));
});

test('fetches through the configured proxy', async () => {
  const answer = answering((_, response) => response.end(archiveOf(path, addon)));
  const port = await listen(createSecureServer(certificate, answer) as unknown as Server);
  const proxy = createServer().on('connect', ({ headers, url }, socket) => {
    requests.push(`CONNECT ${url} ${headers['proxy-authorization']}`);
    const onwards = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onwards).pipe(socket);
    });
    for (const end of [socket, onwards]) end.on('error', () => undefined);
  });
  writeFileSync(join(folder, 'ca.pem'), certificate.cert);
  const result = await install({
    npm_config_https_proxy: `http://alice:secret@127.0.0.1:${await listen(proxy)}`,
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    [binaryHost]: `https://localhost:1`,
  });
  assert.equal(result, { code: 0, output: '' });
  const login = Buffer.from('alice:secret').toString('base64');
  assert.equal(requests, [`CONNECT localhost:1 Basic ${login}`, archive]);
  assert.ok(readFileSync(join(folder, path)).equals(addon));
});

test('leaves the package to be compiled where no release has a binary that Node.js can load', async () => {
  const missing = await releases((_, response) => response.writeHead(404).end());
  assert.equal(await install({ [binaryHost]: missing }), failed(`${missing}${archive} answers 404`));

  const damaged = await releases((_, response) => response.end(archiveOf(path, addon.subarray(0, 1000))));
  assert.equal(await install({ [binaryHost]: damaged }), failed('Node.js cannot load the binary'));

  const elsewhere = await releases((_, response) => response.end(archiveOf('../build.node', addon)));
  assert.equal(await install({ [binaryHost]: elsewhere }), failed('the archive contains ../build.node'));

  const other = await releases((_, response) => response.end(archiveOf('build/notes', addon)));
  assert.equal(await install({ [binaryHost]: other }), failed('the archive contains no binary'));

  const text = await releases((_, response) => response.end('not found'));
  assert.equal(await install({ [binaryHost]: text }), failed('incorrect header check'));

  const broken = await releases((_, response) =>
    response.writeHead(200, { 'content-length': 9 }).write('x', () => response.destroy()),
  );
  assert.equal(await install({ [binaryHost]: broken }), failed('aborted'));

  const endless = await releases((_, response) => response.writeHead(302, { location: archive }).end());
  assert.equal(await install({ [binaryHost]: endless }), failed(`${endless}${archive} answers 302`));
  assert.not(existsSync(join(folder, path)));
});

test('fetches nothing where npm is configured to build from source', async () => {
  const host = await releases((_, response) => response.end(archiveOf(path, addon)));
  for (const name of ['true', 'better-sqlite3'])
    assert.equal(
      await install({ [binaryHost]: host, npm_config_build_from_source: name }),
      failed('to be built from source'),
    );
  assert.equal(requests, []);
});

test.run();
