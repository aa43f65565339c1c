/**
 * Litestream and an S3 server, from packages of the registry: installed into dist/replication on first use, because they are
 * as large as all other packages together and only drills and one test need them.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const packages = { '@flydotio/litestream': '1.0.1', s3rver: '3.7.1' };
const folder = fileURLToPath(new URL('../../dist/replication', import.meta.url));
export const litestreamProgram = join(
  folder,
  `node_modules/@flydotio/litestream-${process.platform}-${process.arch}/litestream`,
);
const run = promisify(execFile);

/** The keys of the S3 server. */
const keys = { LITESTREAM_ACCESS_KEY_ID: 'S3RVER', LITESTREAM_SECRET_ACCESS_KEY: 'S3RVER' };
export const bucket = 'tenantry';

/** Installs missing packages. Rejects where one is not available. */
export async function installReplication(): Promise<void> {
  if (existsSync(litestreamProgram) && existsSync(join(folder, 'node_modules/s3rver'))) return;
  mkdirSync(folder, { recursive: true });
  const wanted = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  await run('npm', ['install', '--silent', '--ignore-scripts', '--no-save', '--prefix', folder, ...wanted]);
  chmodSync(litestreamProgram, 0o755);
}

/** Runs Litestream to its end; returns its output. Rejects when it fails. */
export async function litestream(...words: readonly string[]): Promise<string> {
  const { stdout } = await run(litestreamProgram, words, { env: { ...process.env, ...keys } });
  return stdout;
}

/** A running Litestream. */
export interface Replicating {
  readonly process: ChildProcess;
  /** Its output. */
  readonly said: () => string;
}

/** Starts it with a configuration; resolves when it has written its first copy and the changes after it. */
export async function replicate(config: string): Promise<Replicating> {
  const child = spawn(litestreamProgram, ['replicate', '-no-expand-env', '-config', config], {
    env: { ...process.env, ...keys },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const written = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes('wal segment written')) resolve();
      });
  });
  await Promise.race([
    written,
    once(child, 'exit').then(() => {
      throw new Error(`Litestream has ended: ${output}`);
    }),
  ]);
  return { process: child, said: () => output };
}

/** Ends a process with a signal. */
export async function endWithSignal(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

/** The used parts of s3rver. */
interface S3Options {
  readonly delimiter?: string;
  readonly prefix?: string;
}
interface S3Object {
  readonly key: string;
  readonly size: number;
  readonly content: unknown;
}
interface S3Store {
  putObject(object: S3Object): Promise<{ readonly size: number }>;
  listObjects(bucket: string, options: S3Options): Promise<{ objects: { key: string }[]; commonPrefixes: string[] }>;
}
interface S3Server {
  run(): Promise<{ readonly port: number }>;
  close(): Promise<void>;
}

/** Starts an S3 server with an empty bucket that stores its objects in a folder; returns its URL. */
export async function serveS3(objects: string): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const require = createRequire(join(folder, 'package.json'));
  const store = (require('s3rver/lib/stores/filesystem') as { prototype: S3Store }).prototype;
  const own = { ...Object.getOwnPropertyDescriptors(store) };
  const put = own.putObject?.value as S3Store['putObject'];
  const unfinished = new Set<string>();
  // An upload interrupted by a kill creates no object, as in S3.
  store.putObject = async function (object) {
    unfinished.add(object.key);
    const stored = await put.call(this, object);
    if (object.content instanceof IncomingMessage && stored.size !== object.size) throw new Error('The object was cut');
    unfinished.delete(object.key);
    return stored;
  };
  const list = own.listObjects?.value as S3Store['listObjects'];
  // Folders that contain only folders are not listed, as in S3: it is asked for all objects in them.
  store.listObjects = async function (bucket, { delimiter, prefix = '', ...options }) {
    const listed = await list.call(this, bucket, { prefix, ...options });
    const all = { ...listed, objects: listed.objects.filter(({ key }) => !unfinished.has(key)) };
    if (!delimiter) return all;
    const end = ({ key }: { key: string }): number => key.indexOf(delimiter, prefix.length);
    const inner = all.objects.filter((object) => end(object) >= 0);
    return {
      ...all,
      objects: all.objects.filter((object) => end(object) < 0),
      commonPrefixes: [...new Set(inner.map((object) => object.key.slice(0, end(object) + 1)))],
    };
  };
  const Server = require('s3rver') as new (options: object) => S3Server;
  const server = new Server({
    directory: objects,
    address: '127.0.0.1',
    port: 0,
    silent: true,
    configureBuckets: [{ name: bucket }],
  });
  const { port } = await server.run();
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
