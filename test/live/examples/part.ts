import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as assert from 'uvu/assert';
import { version } from '../../../src/kernel/app.ts';
import { certificate } from '../../support/certificate.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { Program } from '../../support/program.ts';
import type { Steps } from '../steps.ts';

const run = promisify(execFile);

/** The response of a proxy on this machine over https, under a host name. */
async function through(
  port: number,
  name: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const requests = request({
    host: '127.0.0.1',
    port,
    path,
    servername: name,
    headers: { Host: `${name}:${port}`, ...headers },
    rejectUnauthorized: false,
    agent: false,
  });
  requests.end();
  const [response] = (await once(requests, 'response')) as [import('node:http').IncomingMessage];
  let body = '';
  for await (const chunk of response) body += chunk;
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${body}`);
  return body;
}

/** The programs around a server accept the files that `tenantry example` prints, and work with them. */
export async function examples(steps: Steps): Promise<void> {
  const native = mkdtempSync(join(tmpdir(), 'tenantry-live-'));
  const program = new Program(native);
  const at = (name: string): string => join(program.folder, name);
  const children: ChildProcess[] = [];
  const start = (command: string, words: readonly string[], env = {}): ChildProcess => {
    const child = spawn(command, words, { cwd: program.folder, stdio: 'ignore', env: { ...process.env, ...env } });
    children.push(child);
    return child;
  };
  const [port, admin, proxied, prometheus] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const name = 'cloud.example.org';
  const settings = ['--port', String(port), '--admin-listen', String(admin)];
  const example = async (what: string, ...words: readonly string[]): Promise<string> =>
    (await program.run(['example', what, ...settings, ...words])).stdout;
  try {
    await steps.step('systemd-analyze verifies the unit', async () => {
      const unit = at('tenantry.service');
      mkdirSync(at('data'));
      writeFileSync(unit, await example('systemd', '--data', 'data'));
      const { stderr, stdout } = await run('systemd-analyze', ['verify', '--man=no', unit]);
      const own = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('tenantry'));
      assert.equal(own, []);
    });
    await steps.step('systemd-notify sends readiness, watchdog and end to the socket', async () => {
      const listener = spawn('/usr/bin/python3', [
        '-uc',
        'import socket,sys\ns=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM)\ns.bind(sys.argv[1])\nprint("bound")\nwhile True: print(s.recv(4096).decode())',
        at('notify'),
      ]);
      children.push(listener);
      let output = '';
      listener.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await eventually('it listens', () => output.includes('bound'));
      const serving = await program.serve(['--ephemeral'], {
        env: { NOTIFY_SOCKET: at('notify'), WATCHDOG_USEC: '400000' },
      });
      await eventually('it is ready and lives', () => /READY=1[\s\S]*WATCHDOG=1/.test(output));
      await serving.stop();
      await eventually('it ends', () => output.includes('STOPPING=1'));
      assert.is(serving.errors(), '');
    });
    const serving = await program.serve([
      ...settings,
      '--trusted-proxies',
      '127.0.0.1',
      '--base-url',
      `https://${name}`,
    ]);
    await steps.step('healthcheck reports it ready', async () => {
      const { stdout } = await program.run(['healthcheck', ...settings]);
      assert.is(stdout, 'ready\n');
    });
    const { stdout: token } = await program.run(['token', 'admin']);
    const headers = { Authorization: `Token ${token.trim()}` };
    const works = async (): Promise<void> => {
      assert.is(await through(proxied, name, '/api/version/'), JSON.stringify({ version }));
      const [me] = JSON.parse(await through(proxied, name, '/api/users/?current', headers)) as [{ url: string }];
      assert.ok(me.url.startsWith(`https://${name}/api/users/`), me.url);
    };
    for (const [file, content] of Object.entries({ 'cert.pem': certificate.cert, 'key.pem': certificate.key }))
      writeFileSync(at(file), content);
    await steps.step('nginx accepts the configuration and forwards requests', async () => {
      const server = (await example('nginx', '--base-url', `https://${name}`))
        .replace('listen 443', `listen 127.0.0.1:${proxied}`)
        .replace(/\/etc\/ssl\/\S+\.pem/, at('cert.pem'))
        .replace(/\/etc\/ssl\/\S+\.key/, at('key.pem'));
      mkdirSync(at('nginx'));
      writeFileSync(
        at('nginx.conf'),
        `daemon off; pid ${at('nginx/pid')}; error_log ${at('nginx/error.log')};\nevents {}\nhttp {\naccess_log off;\n${[
          'client_body',
          'proxy',
          'fastcgi',
          'uwsgi',
          'scgi',
        ]
          .map((kind) => `${kind}_temp_path ${at('nginx')}/${kind};`)
          .join('\n')}\n${server}}\n`,
      );
      await run('/usr/sbin/nginx', ['-t', '-c', at('nginx.conf')]);
      const nginx = start('/usr/sbin/nginx', ['-c', at('nginx.conf')]);
      await eventually('nginx responds', () =>
        works().then(
          () => true,
          (error) => isListening(error),
        ),
      );
      nginx.kill('SIGQUIT');
      await once(nginx, 'close');
    });
    await steps.step('Caddy accepts the configuration and forwards requests', async () => {
      const site = await example('caddy', '--base-url', `https://${name}`);
      writeFileSync(
        at('Caddyfile'),
        `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site.replace(`${name} {`, `https://${name}:${proxied} {\n\ttls ${at('cert.pem')} ${at('key.pem')}`)}`,
      );
      const env = { XDG_DATA_HOME: at('caddy'), XDG_CONFIG_HOME: at('caddy') };
      await run('caddy', ['validate', '--config', at('Caddyfile'), '--adapter', 'caddyfile'], {
        env: { ...process.env, ...env },
      });
      const caddy = start('caddy', ['run', '--config', at('Caddyfile'), '--adapter', 'caddyfile'], env);
      await eventually('Caddy responds', () =>
        works().then(
          () => true,
          (error) => isListening(error),
        ),
      );
      caddy.kill('SIGTERM');
      await once(caddy, 'close');
    });
    await steps.step(
      'promtool accepts configuration, rules, metrics and the expressions of the dashboard',
      async () => {
        writeFileSync(at('prometheus.yml'), (await example('prometheus')).replace('15s', '1s'));
        writeFileSync(at('tenantry-alerts.yml'), await example('alerts'));
        await run('promtool', ['check', 'config', at('prometheus.yml')]);
        const dashboard = JSON.parse(await example('grafana')) as { panels: { targets: { expr: string }[] }[] };
        const rules = dashboard.panels
          .flatMap(({ targets }) => targets)
          .map(({ expr }, i) => ({ record: `tenantry:${i}`, expr: expr.replaceAll('$__rate_interval', '1m') }));
        // JSON is YAML.
        writeFileSync(at('dashboard.yml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
        await run('promtool', ['check', 'rules', at('dashboard.yml')]);
        const metrics = await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text();
        const check = spawn('promtool', ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
        let output = '';
        for (const stream of [check.stdout, check.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
        check.stdin.end(metrics);
        const [code] = (await once(check, 'close')) as [number];
        assert.equal([code, output], [0, '']);
      },
    );
    await steps.step('Prometheus scrapes the metrics and raises no alert', async () => {
      const api = `http://127.0.0.1:${prometheus}/api/v1`;
      start('prometheus', [
        `--config.file=${at('prometheus.yml')}`,
        `--storage.tsdb.path=${at('tsdb')}`,
        `--web.listen-address=127.0.0.1:${prometheus}`,
      ]);
      const queried = async (query: string): Promise<unknown> => {
        const response = await fetch(`${api}/query?query=${encodeURIComponent(query)}`);
        const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } };
        return data.result[0]?.value[1];
      };
      await eventually(
        'the metrics are scraped',
        () =>
          queried('up{job="tenantry"}').then(
            (up) => up === '1',
            () => false,
          ),
        30,
      );
      assert.is(await queried('count(tenantry_build_info)'), '1');
      const { data } = (await (await fetch(`${api}/alerts`)).json()) as { data: { alerts: unknown[] } };
      assert.equal(data.alerts, []);
    });
    assert.is(await serving.stop(), 0);
    assert.not.match(readFileSync(at('nginx/error.log'), 'utf8'), 'emerg');
  } finally {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
    await program.end();
    rmSync(native, { recursive: true });
  }
}

/** Whether a proxy listens; throws other errors. */
function isListening(error: NodeJS.ErrnoException): boolean {
  if (error.code === 'ECONNREFUSED') return false;
  throw error;
}
