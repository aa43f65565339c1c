import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { certificate } from '../../support/certificate.ts';
import { eventually } from '../../support/eventually.ts';
import type { Json } from '../../support/fixture.ts';
import { freePort } from '../../support/free-port.ts';
import { Program } from '../../support/program.ts';
import { Caller } from '../caller.ts';
import type { Steps } from '../steps.ts';

/** rsyslog receives the audit trail through `audit_syslog`, over TCP and TLS, also after its restart. */
export async function rsyslog(steps: Steps): Promise<void> {
  for (const scheme of ['tcp', 'tls'] as const) {
    const program = new Program(undefined);
    const server = new Rsyslog(program.folder, scheme, await freePort());
    try {
      await steps.step(`rsyslog starts (${scheme})`, () => server.start());
      await receive(steps, program, server);
    } finally {
      await server.stop();
      await program.end();
    }
  }
}

async function receive(steps: Steps, program: Program, server: Rsyslog): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', NODE_EXTRA_CA_CERTS: server.certificate };
  const serving = await program.serve(['--ephemeral', '--audit-syslog', server.url], { env });
  const staff = new Caller(serving.url, String(serving.startup.token));
  const trail = async (): Promise<Json[]> =>
    (await staff.ask(200, 'GET', '/api/audit/?page_size=300')).slice().reverse();
  await steps.step('each record arrives once, in order, with facility and header', async () => {
    await staff.ask(201, 'POST', '/api/customers/', { name: 'Õhtu "é"', contact_details: 'õ'.repeat(500) });
    await staff.send('POST', '/api-auth/password/', { username: 'admin', password: 'wrong' });
    const records = await trail();
    await eventually('all arrive', () => server.messages.length >= records.length);
    assert.equal(
      server.messages,
      records.map((record) => ({
        header: `13 ${record.outcome === 'done' ? 6 : 4} ${hostname()} tenantry ${record.operation}`,
        record,
      })),
    );
  });
  await steps.step('later records arrive after a restart of rsyslog', async () => {
    await server.stop();
    await staff.ask(201, 'POST', '/api/customers/', { name: 'While it is down' });
    await server.start();
    await staff.ask(201, 'POST', '/api/customers/', { name: 'Afterwards' });
    await eventually(
      'the last one arrives',
      () => server.messages.at(-1)?.record.private.object_name === 'Afterwards',
      30,
    );
    const sequences = server.messages.map(({ record }) => record.sequence);
    assert.equal(
      sequences,
      [...new Set(sequences)].sort((a, b) => a - b),
    );
  });
  assert.is(await serving.stop(), 0);
}

/** An rsyslog server that writes one line per message. */
class Rsyslog {
  readonly url: string;
  readonly certificate: string;
  readonly #output: string;
  #process: ChildProcess | undefined;

  constructor(
    private readonly folder: string,
    private readonly scheme: 'tcp' | 'tls',
    private readonly port: number,
  ) {
    this.url = `${scheme}://localhost:${port}`;
    this.certificate = join(folder, 'cert.pem');
    this.#output = join(folder, 'messages');
    writeFileSync(this.certificate, certificate.cert);
    writeFileSync(join(folder, 'key.pem'), certificate.key);
    writeFileSync(join(folder, 'rsyslog.conf'), this.#configuration());
  }

  get messages(): readonly { readonly header: string; readonly record: Json }[] {
    if (!existsSync(this.#output)) return [];
    return (
      readFileSync(this.#output, 'utf8')
        .split('\n')
        .slice(0, -1)
        // Heads may come between records.
        .filter((line) => !line.includes(' head |'))
        .map((line) => {
          const [header = '', text = ''] = line.split(/ \| ?(.*)/s);
          return { header, record: JSON.parse(text) };
        })
    );
  }

  async start(): Promise<void> {
    const words = ['-n', '-f', join(this.folder, 'rsyslog.conf'), '-i', join(this.folder, 'rsyslog.pid')];
    this.#process = spawn('/usr/sbin/rsyslogd', words, { stdio: 'inherit' });
    await eventually('it listens', () => canConnect(this.port));
  }

  async stop(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (!running) return;
    running.kill();
    await once(running, 'close');
  }

  #configuration(): string {
    const driver = 'StreamDriver.Name="gtls" StreamDriver.Mode="1" StreamDriver.AuthMode="anon"';
    const files = `DefaultNetstreamDriverCAFile="${this.certificate}" DefaultNetstreamDriverCertFile="${this.certificate}" DefaultNetstreamDriverKeyFile="${join(this.folder, 'key.pem')}"`;
    const line = '%syslogfacility% %syslogseverity% %hostname% %app-name% %msgid% | %msg%\\n';
    return [
      `global(workDirectory="${this.folder}" maxMessageSize="1m" ${this.scheme === 'tls' ? files : ''})`,
      `module(load="imtcp" ${this.scheme === 'tls' ? driver : ''})`,
      `input(type="imtcp" port="${this.port}" address="127.0.0.1")`,
      `template(name="line" type="string" string="${line}")`,
      `action(type="omfile" file="${this.#output}" template="line")`,
      '',
    ].join('\n');
  }
}

/** Whether a port of this machine accepts connections. */
const canConnect = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
