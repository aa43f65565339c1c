/** Packs the npm package, installs it in a new folder and uses it. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Program } from './program.ts';
import { SamlProvider } from './saml-login.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const execute = promisify(execFile);

/** Runs a program with this Node.js and returns its output. Rejects with its stderr if it fails. */
export async function printed(
  folder: string,
  file: string,
  words: readonly string[],
  node = process.execPath,
): Promise<string> {
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, TENANTRY_NATIVE_CACHE: '' };
  const { stdout } = await execute(file, words, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

/** Packs the build, or builds it first as `npm pack` does. Returns the file. */
export async function pack(folder: string, isBuilt: boolean): Promise<string> {
  const words = ['pack', '--silent', '--json', '--pack-destination', folder, ...(isBuilt ? ['--ignore-scripts'] : [])];
  const text = await printed(project, 'npm', words);
  // A script that runs first may print other lines.
  const [{ filename }] = JSON.parse(text.slice(text.search(/^\[\n/m))) as [{ filename: string }];
  return join(folder, filename);
}

/** Installs a packed file in a new folder without other packages. */
export async function install(folder: string, file: string): Promise<void> {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  await printed(folder, 'npm', ['install', '--silent', '--offline', file]);
}

/** Uses the package by `require`, `import` and its command. Returns the outputs. */
export async function use(folder: string, node = process.execPath): Promise<string[]> {
  const ask = `
    const server = await createServer({ ephemeral: true, port: '0', log_level: 'silent', clock: settableClock() });
    const headers = { Authorization: 'Token ' + server.issueToken('admin') };
    const [me] = await (await fetch(server.url + '/api/users/?current', { headers })).json();
    await server.close();`;
  writeFileSync(
    join(folder, 'required.cjs'),
    `const { createServer, settableClock } = require('tenantry');
     void (async () => {${ask}
       console.log(me.username, (await import('tenantry')).createServer === createServer);
     })();`,
  );
  writeFileSync(
    join(folder, 'imported.mjs'),
    `import { createServer, settableClock } from 'tenantry';${ask}
     console.log(me.username);`,
  );
  return Promise.all([
    printed(folder, node, ['required.cjs']),
    printed(folder, node, ['imported.mjs']),
    printed(folder, join(folder, 'node_modules/.bin/tenantry'), ['version'], node),
  ]);
}

/**
 * Logs a user in at an identity provider, on servers started by `require`, `import` and the command of the package. Returns the
 * registration methods of the users.
 */
export async function logIn(folder: string, node = process.execPath): Promise<string[]> {
  const start = `
    const settings = JSON.parse(process.argv.at(-1));
    createServer({ ...settings, ephemeral: true, log_level: 'silent' }).then((server) => {
      console.log(JSON.stringify({ url: server.url }));
      process.once('SIGTERM', () => server.close());
    });`;
  writeFileSync(join(folder, 'serving.cjs'), `const { createServer } = require('tenantry');${start}`);
  writeFileSync(join(folder, 'serving.mjs'), `import { createServer } from 'tenantry';${start}`);
  const saml = await SamlProvider.start();
  const settings = JSON.stringify(saml.settings);
  const ways: readonly (readonly [command: readonly string[], words: readonly string[]])[] = [
    [[node, join(folder, 'serving.cjs')], [settings]],
    [[node, join(folder, 'serving.mjs')], [settings]],
    [[join(folder, 'node_modules/.bin/tenantry')], ['--ephemeral', ...saml.words]],
  ];
  try {
    const locations: string[] = [];
    // One at a time: each listens on the port that the identity provider redirects to.
    for (const [command, words] of ways) {
      const program = new Program(undefined, command);
      try {
        const env = { PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
        const server = await program.serve(words, { env });
        const { registration_method: method, username } = await saml.logIn(server.url, 'mari');
        locations.push(`${username} ${method} ${await server.stop()}`);
      } finally {
        await program.end();
      }
    }
    return locations;
  } finally {
    await saml.close();
  }
}

/** Runs the test of every feature of the one-file build with another program file. Rejects with its report. */
export async function useEverything(file: string): Promise<void> {
  const run = join(project, 'dist/test/run.js');
  const env = { ...process.env, TENANTRY_TEST_PROGRAM: file };
  await execute(process.execPath, [run, 'test/package/everything'], { cwd: project, env }).catch(
    ({ stdout }: { stdout: string }) => {
      throw new Error(stdout);
    },
  );
}
