/** audit_file and audit_syslog: records received by a file and a syslog server (audit.md 9). */
import { existsSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createServer as createSecureServer } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sql } from '../../../src/kernel/db/sql.ts';
import { certificate } from '../../support/certificate.ts';
import { eventually } from '../../support/eventually.ts';
import { Fixture, type Json } from '../../support/fixture.ts';
import { nativeCache, Program, type Serving } from '../../support/program.ts';

const test = suite('audit file and syslog');
const fixture = new Fixture();
let program: Program;
let file: string;

test.before.each(() => {
  program = new Program(nativeCache);
  file = join(program.folder, 'audit.ndjson');
});
test.after.each(async () => {
  await fixture.close();
  await program.end();
});

const recordsIn = (path: string): Json[] => {
  const lines = readFileSync(path, 'utf8').split('\n');
  assert.is(lines.pop(), '');
  return lines.filter((line) => !line.startsWith('{"head"')).map((line) => JSON.parse(line));
};
const sequencesIn = (path: string): number[] => recordsIn(path).map(({ sequence }) => sequence);
const upTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1);
const errorOf = async (): Promise<string> =>
  (await fixture.staff.get('/api/operation/')).body.audit_sinks[0].error_message;
const all = async (): Promise<Json[]> => (await fixture.staff.get('/api/audit/?page_size=300')).body.reverse();
const lastSequence = (): number => fixture.server.app.db.scalar<number>(sql`SELECT max(sequence) FROM audit_record`);

test('appends a line for each record to a file that only its owner may write', async () => {
  const umask = process.umask(0o077);
  try {
    await fixture.open({ audit_file: file });
    await fixture.customer('Alice "é"');
    await fixture.advance(1);
  } finally {
    process.umask(umask);
  }
  assert.equal(recordsIn(file), await all());
  assert.is(statSync(file).mode & 0o777, 0o640);
});

test('waits while the disk is full, and then continues without a gap', async () => {
  symlinkSync('/dev/full', file);
  await fixture.open({ audit_file: file });
  await fixture.advance(5);
  assert.is(await errorOf(), 'no space left on device');
  await fixture.customer('Alice');
  rmSync(file);
  await fixture.advance(5);
  assert.equal(sequencesIn(file), upTo(lastSequence()));
  assert.is(await errorOf(), '');
});

test('replaces a truncated line and sectors that a power failure lost, and keeps foreign content', async () => {
  await fixture.open({ audit_file: file });
  await fixture.advance(1);
  await fixture.customer('Alice');
  await fixture.customer('Bob');
  // A kill interrupted the next line, after records of the batch whose receipt is not stored yet.
  const [next] = (await all()).slice(-1);
  await fixture.advance(1);
  const complete = readFileSync(file, 'utf8');
  assert.is(
    complete.split('\n').at(-2),
    complete.split('\n').find((line) => line.includes(next.hash)),
  );
  const { db } = fixture.server.app;
  const last = complete.slice(0, -1).lastIndexOf('\n') + 1;
  const interrupt = async (content: string): Promise<void> => {
    writeFileSync(`${file}.new`, content);
    renameSync(`${file}.new`, file);
    db.write(() => db.run(sql`UPDATE audit_sink SET received = received - 2`));
    fixture.server.reload();
    await fixture.advance(1);
  };
  await interrupt(complete.slice(0, last + 40));
  assert.is(readFileSync(file, 'utf8'), complete);
  await interrupt(complete);
  assert.is(readFileSync(file, 'utf8'), complete);
  // The power failed before the batch was synced: the disk has its last sectors, and zeros instead of the earlier ones.
  const first = complete.slice(0, last - 1).lastIndexOf('\n') + 1;
  await interrupt(`${complete.slice(0, first)}${'\0'.repeat(last - first + 40)}${complete.slice(last + 40)}`);
  assert.is(readFileSync(file, 'utf8'), complete);
  await interrupt('a text of another program');
  const [foreign, ...lines] = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  assert.is(foreign, 'a text of another program');
  assert.equal(lines, complete.split('\n').slice(-3, -1));
});

test('rotate-key sends the last head of the old key, which names the new one', async () => {
  const words = ['--audit-file', file];
  await (await program.serve(words)).stop();
  assert.is((await program.run(['rotate-key', ...words])).code, 0);
  const headsIn = (path: string): Json[] =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"signature"'))
      .map((line) => JSON.parse(line))
      .map((line) => line.head ?? line);
  const logged = headsIn(join(program.folder, 'data/audit-heads.log'));
  assert.type(logged.at(-1)?.next_key, 'string');
  assert.equal(headsIn(file), logged);
  assert.is(recordsIn(file).at(-1)?.operation, 'rotate-key');
  await (await program.serve(words)).stop();
  assert.equal(headsIn(file), headsIn(join(program.folder, 'data/audit-heads.log')), 'each head arrives once');
});

test('reports a file that cannot be opened, while requests are served', async () => {
  await fixture.open({ audit_file: join(program.folder, 'missing/audit') });
  await fixture.customer('Alice');
  await fixture.advance(5);
  assert.is(await errorOf(), `${join(program.folder, 'missing/audit')}: no such file or directory`);
});

test('has no gap after kills, and continues in a new file after SIGHUP', async () => {
  const words = ['--admin-listen', 'off', '--audit-file', 'audit.ndjson'];
  const begin = (): Promise<Serving> => program.serve(words);
  const login = async ({ url }: Serving, password: string): Promise<void> => {
    const body = JSON.stringify({ username: 'admin', password });
    await fetch(`${url}/api-auth/password/`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  };
  for (let round = 0; round < 3; round++) {
    const server = await begin();
    for (let i = 0; i < 3; i++) assert.is((await program.run(['user', 'add', `user-${round}-${i}`])).code, 0);
    await login(server, 'wrong');
    await server.kill();
  }
  const server = await begin();
  await eventually(
    'all users are in the file',
    () => existsSync(file) && readFileSync(file, 'utf8').includes('"object_name":"user-2-2"'),
  );
  renameSync(file, `${file}.1`);
  for (const child of program.running) child.kill('SIGHUP');
  assert.is((await program.run(['user', 'add', 'alice'])).code, 0);
  await eventually('there is a new file', () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
  assert.is(await server.stop(), 0);
  // The batch that was being written is in both files.
  const sequences = [...new Set([...sequencesIn(`${file}.1`), ...sequencesIn(file)])];
  assert.equal(sequences, upTo(sequences.length));
  assert.is(recordsIn(file).at(-1).private.object_name, 'alice');
});

/** A syslog server that reads messages with octet counting. */
class SyslogServer {
  readonly messages: string[] = [];
  readonly #sockets = new Set<Socket>();
  #rest = Buffer.alloc(0);

  constructor(private readonly server: Server) {
    server.on('secureConnection', (socket) => this.#read(socket));
    server.on('connection', (socket) => this.#sockets.add(socket));
    if (!('addContext' in server)) server.on('connection', (socket) => this.#read(socket));
  }

  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(port, '127.0.0.1', resolve));
    const address = this.server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  #read(socket: Socket): void {
    this.#rest = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      this.#rest = Buffer.concat([this.#rest, chunk]);
      for (;;) {
        const [prefix, length] = /^(\d+) /.exec(this.#rest.toString('latin1', 0, 12)) ?? [];
        const end = (prefix?.length ?? 0) + Number(length);
        if (prefix === undefined || this.#rest.length < end) return;
        this.messages.push(this.#rest.toString('utf8', prefix.length, end));
        this.#rest = this.#rest.subarray(end);
      }
    });
  }
}

const recordMessages = ({ messages }: SyslogServer): string[] =>
  messages.filter((message) => !message.includes(' head - {"head"'));

test('sends messages of RFC 5424 on one connection, and connects again when it breaks', async () => {
  const server = new SyslogServer(createServer());
  const port = await server.listen();
  await fixture.open({ audit_syslog: `tcp://127.0.0.1:${port}` });
  await fixture.customer('Alice "é"');
  await fixture.anonymous.post('/api-auth/password/', { username: 'admin', password: 'wrong' });
  await fixture.advance(1);
  await eventually('all messages arrive', () => recordMessages(server).length === lastSequence());
  const records = await all();
  for (const [i, message] of recordMessages(server).entries()) {
    const { at, operation, outcome } = records[i];
    const header = `<${outcome === 'done' ? 110 : 108}>1 ${at} ${hostname()} tenantry ${process.pid} ${operation} - `;
    assert.is(message.slice(0, header.length), header);
    assert.equal(JSON.parse(message.slice(header.length)), records[i]);
  }
  await server.close();
  await fixture.customer('Bob');
  await eventually('the attempt fails', async () => {
    await fixture.advance(1);
    return (await errorOf()) === 'The connection was refused.';
  });
  const second = new SyslogServer(createServer());
  await second.listen(port);
  await fixture.advance(300);
  await eventually('the record arrives', () => recordMessages(second).at(-1)?.includes('"object_name":"Bob"') ?? false);
  await fixture.close();
  await second.close();
});

test('verifies the certificate of a syslog server', async () => {
  const { cert, key } = certificate;
  const server = new SyslogServer(createSecureServer({ cert, key }));
  const port = await server.listen();
  await fixture.open({ audit_syslog: `tls://localhost:${port}` });
  await fixture.advance(1);
  assert.match(await errorOf(), /^TLS failed: .*self.signed certificate/);
  assert.equal(server.messages, []);
  writeFileSync(join(program.folder, 'ca.pem'), cert);
  const env = { NODE_EXTRA_CA_CERTS: join(program.folder, 'ca.pem') };
  await program.serve(['--ephemeral', '--audit-syslog', `tls://localhost:${port}`], { env });
  await eventually('a message arrives', () => server.messages.length > 0);
  assert.match(server.messages[0] ?? '', '"operation":"audit.chain_started"');
  await fixture.close();
  await program.end();
  program = new Program(nativeCache);
  await server.close();
});

test('rejects a syslog address that is not only a host and a port', async () => {
  for (const address of ['udp://a:514', 'tcp://a:514/path', 'tcp://user@a:514', 'tcp://'])
    assert.match((await program.run(['serve', '--audit-syslog', address])).stderr, /^tenantry: --audit-syslog must /);
});

test.run();
