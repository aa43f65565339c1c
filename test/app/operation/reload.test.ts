/** SIGHUP: reloads the certificate and reopens the log file (core.md 14.3). */
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { certificate } from '../../support/certificate.ts';
import { eventually } from '../../support/eventually.ts';
import type { Json } from '../../support/fixture.ts';
import { failed, nativeCache, Program } from '../../support/program.ts';
import { serviceKeys } from '../../support/saml-keys.ts';

const test = suite('reload');
let program: Program;

test.before.each(() => {
  program = new Program(nativeCache);
});
test.after.each(() => program.end());

const path = (name: string): string => join(program.folder, name);
const messages = (name: string): string[] =>
  readFileSync(path(name), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line): string => (JSON.parse(line) as Json).msg);

function hangUp(): void {
  for (const child of program.running) child.kill('SIGHUP');
}

test('appends the log to a file, and reopens it on SIGHUP without losing a line', async () => {
  writeFileSync(path('log'), '{"msg":"from before"}\n');
  const serving = await program.serve(['--log-file', 'log', '--log-level', 'info', '--ephemeral']);
  const ask = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) await fetch(`${serving.url}/api/version/`);
  };
  await ask(20);
  renameSync(path('log'), path('log.1'));
  hangUp();
  await eventually('there is a new file', () => existsSync(path('log')));
  await ask(10);
  assert.is(await serving.stop(), 0);
  assert.is(serving.errors(), '');
  const [old, fresh] = [messages('log.1'), messages('log')];
  assert.is(old[0], 'from before');
  assert.is([...old, ...fresh].filter((message) => message === 'request').length, 30);
  assert.is(fresh.filter((message) => message === 'request').length, 10);
  assert.is(statSync(path('log')).mode & 0o007, 0);
});

test('keeps logging to the old file with a message when no new one can be opened', async () => {
  const serving = await program.serve(['--log-file', 'logs', '--ephemeral']);
  renameSync(path('logs'), path('logs.1'));
  mkdirSync(path('logs'));
  hangUp();
  await eventually('the old file has the message', () =>
    messages('logs.1').includes('failed to reload the log file; the previous one stays in use'),
  );
  assert.is((await fetch(`${serving.url}/api/version/`)).status, 200);
  assert.is(await serving.stop(), 0);
});

test('reports a log file that cannot be opened in one line', async () => {
  assert.equal(
    await program.run(['serve', '--port', '0', '--log-file', 'nowhere/log']),
    failed('cannot open the log file nowhere/log: no such file or directory'),
  );
});

test('keeps serving with a log file that cannot be written', async () => {
  const serving = await program.serve(['--log-file', '/dev/full', '--log-level', 'info', '--ephemeral']);
  for (let i = 0; i < 200; i++) await fetch(`${serving.url}/api/${'x'.repeat(150)}/`);
  assert.is((await fetch(`${serving.url}/api/version/`)).status, 200);
  assert.is(await serving.stop(), 0);
});

test('reloads the certificate on SIGHUP; logs an error for an invalid one', async () => {
  const place = ({ cert, key }: { cert: string; key: string }): void => {
    writeFileSync(path('cert.pem'), cert);
    writeFileSync(path('key.pem'), key);
  };
  place(certificate);
  const words = ['--tls-cert-file', 'cert.pem', '--tls-key-file', 'key.pem', '--ephemeral', '--log-level', 'info'];
  const serving = await program.serve(words);
  assert.match(serving.url, /^https:/);
  place(serviceKeys);
  hangUp();
  await eventually('it says so', () => serving.errors().includes('"msg":"certificate reloaded"'));
  place({ ...serviceKeys, key: certificate.key });
  hangUp();
  await eventually('it says so', () =>
    serving.errors().includes('"msg":"failed to reload the certificate; the previous one stays in use"'),
  );
  assert.is(await serving.stop(), 0);
});

test('changes nothing on SIGHUP without a certificate and a log file', async () => {
  const serving = await program.serve(['--ephemeral']);
  hangUp();
  assert.is((await fetch(`${serving.url}/api/version/`)).status, 200);
  assert.is(await serving.stop(), 0);
  assert.is(serving.errors(), '');
});

test.run();
