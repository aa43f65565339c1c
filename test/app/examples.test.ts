/** The output of `tenantry example`; `npm run live -- examples` uses it with the real programs. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { version } from '../../src/kernel/app.ts';
import { certificate } from '../support/certificate.ts';
import { builtProgram, failed, nativeCache, Program } from '../support/program.ts';

const test = suite('examples');
let program: Program;

test.before.each(() => {
  program = new Program(nativeCache);
});
test.after.each(() => program.end());

async function example(name: string, ...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await program.run(['example', name, ...words]);
  assert.equal([code, stderr], [0, ''], name);
  return stdout;
}

test('starts the program as a unit with the settings in force and readiness messages, writable in its data folder only', async () => {
  const unit = await example(
    'systemd',
    '--data',
    'my data',
    '--port',
    '443',
    '--admin-listen',
    '9999',
    '--log-file',
    'log/a',
    '--audit-file',
    'audit/a',
  );
  const data = join(program.folder, 'my data');
  const lines = unit.split('\n');
  const has = (line: string): void => assert.ok(lines.includes(line), `${line}\n${unit}`);
  has(
    `ExecStart=${process.execPath} ${builtProgram} serve --data "${data}" --host 127.0.0.1 --port 443 --admin-listen 127.0.0.1:9999 --log-file ${join(program.folder, 'log/a')} --audit-file ${join(program.folder, 'audit/a')}`,
  );
  for (const line of ['Type=notify', 'NotifyAccess=all', 'WatchdogSec=30', 'ExecReload=/bin/kill -HUP $MAINPID'])
    has(line);
  has(`ReadWritePaths="${data}" "${join(program.folder, 'log')}" "${join(program.folder, 'audit')}"`);
  has('AmbientCapabilities=CAP_NET_BIND_SERVICE');
  has(`WorkingDirectory=${data}`);
});

test('configures proxies with the address of the server and the host of clients', async () => {
  const settings = ['--port', '8181', '--host', '0.0.0.0', '--base-url', 'https://cloud.example.org'];
  const nginx = await example('nginx', ...settings, '--max-body-bytes', '50000000');
  for (const line of [
    'server_name cloud.example.org;',
    'proxy_pass http://127.0.0.1:8181;',
    'client_max_body_size 49m;',
  ])
    assert.match(nginx, line);
  // As shown in the manual.
  const manual = readFileSync(new URL('../../src/manual/deploying.md', import.meta.url), 'utf8');
  assert.ok((await example('nginx')).endsWith(/```nginx\n(.*?)```/s.exec(manual)?.[1] ?? '?'));
  const caddy = await example('caddy', ...settings, '--tls-cert-file', 'c', '--tls-key-file', 'k');
  assert.match(caddy, '\ncloud.example.org {\n\treverse_proxy https://127.0.0.1:8181\n}\n');
  assert.match(caddy, 'TENANTRY_BASE_URL=https://cloud.example.org');
});

test('builds the Dockerfile on the current Node.js, and explains how to get the first password', async () => {
  const file = await example('docker', '--port', '8181');
  assert.match(file, '\nENV TENANTRY_DATA=/data TENANTRY_HOST=0.0.0.0 TENANTRY_PORT=8181\n');
  assert.match(
    file,
    '# docker run --name tenantry --init --restart unless-stopped -d -p 8181:8181 -v tenantry:/data tenantry\n',
  );
  assert.match(file, '# docker exec tenantry cat /data/initial-password\n');
  const isForThisNode = Number(process.versions.node.split('.')[0]) >= 24;
  assert.match(file, '\nFROM node:24-bookworm-slim\n');
  if (isForThisNode) {
    assert.match(file, '\nCOPY tenantry.mjs /usr/local/lib/tenantry.mjs\n');
    assert.match(file, '\nENTRYPOINT ["node", "/usr/local/lib/tenantry.mjs"]\n');
  } else {
    // A file built for another Node.js version would not start there, but the package also works on this one.
    assert.match(file, /^# npm pack && docker build -t tenantry \.\n/);
    assert.match(file, `\nCOPY tenantry-${version}.tgz /tmp/\n`);
    assert.match(file, '\nENTRYPOINT ["tenantry"]\n');
    assert.match(file, 'CMD ["tenantry", "healthcheck"]\n');
  }
});

test('uses existing metrics and labels in dashboard and alerts', async () => {
  const tls = { tls_cert_file: join(program.folder, 'c'), tls_key_file: join(program.folder, 'k') };
  writeFileSync(tls.tls_cert_file, certificate.cert);
  writeFileSync(tls.tls_key_file, certificate.key);
  const data = join(program.folder, 'data');
  const server = await createServer({ data, port: 0, admin_listen: '0', log_level: 'silent', ...tls });
  const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text();
  await server.close();
  const known = new Set([...metrics.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name));
  const dashboard = JSON.parse(await example('grafana')) as {
    panels: { id: number; targets: { expr: string; refId: string }[] }[];
  };
  const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const alerts = [...(await example('alerts')).matchAll(/^ +expr: (".*")$/gm)].map(
    ([, text]) => JSON.parse(text as string) as string,
  );
  assert.ok(expressions.length > 20 && alerts.length > 5);
  const named = [...expressions, ...alerts].flatMap((text) =>
    [...text.matchAll(/\b(?:tenantry|process|nodejs)_\w+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, '')),
  );
  assert.equal(
    [...new Set(named)].filter((name) => !known.has(name)),
    [],
  );
  const names = new Set(named);
  const notShown = [...known].filter((name) => name !== undefined && !names.has(name));
  assert.equal(notShown, ['tenantry_build_info', 'process_start_time_seconds']);
  assert.is(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
});

test('configures Prometheus with the admin listener; rejects a missing one and an unknown word', async () => {
  assert.match(await example('prometheus', '--admin-listen', '0.0.0.0:9481'), "      - targets: ['127.0.0.1:9481']\n");
  assert.match(await example('prometheus'), "targets: ['127.0.0.1:9480']");
  assert.equal(
    await program.run(['example', 'prometheus', '--admin-listen', 'off']),
    failed('admin_listen is off, so the server has no metrics'),
  );
  assert.equal(
    await program.run(['example', 'constructor']),
    failed(
      'unknown example "constructor"; use systemd, nginx, caddy, docker, prometheus, alerts, grafana, litestream',
      2,
    ),
  );
});

test('configures Litestream with the database of the data folder, and explains the settings that the server lacks', async () => {
  const database = join(program.folder, 'my "data"/tenantry.db');
  const output = await example('litestream', '--data', 'my "data"');
  assert.match(output, `  - path: ${JSON.stringify(database)}\n`);
  assert.match(output, `-o /new/folder/tenantry.db ${database}\n`);
  assert.match(output, 'replicated=true');
  assert.not.match(await example('litestream', '--replicated'), 'replicated=true');
});

test.run();
