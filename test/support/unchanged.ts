import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Callback, suite, type Test } from 'uvu';

const project = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(project, 'node_modules/.cache/tenantry-tests');

/** The inputs of a suite: files and folders by their paths in the project, and other text. */
export interface Inputs {
  readonly files: readonly string[];
  readonly texts?: readonly string[];
}

/**
 * Creates a suite of slow build, pack or generator tests. The suite is skipped if all of it has passed on this machine with the
 * same inputs, but never if `CI` is set.
 */
export function suiteOfBuild(name: string, inputs: Inputs): Test {
  const record = join(cache, name.replaceAll(' ', '-'));
  const digest = digestOf(inputs);
  const isUnchanged = !process.env.CI && existsSync(record) && readFileSync(record, 'utf8') === digest;
  const test = suite(name);
  if (isUnchanged) {
    console.log(`Nothing has changed since it passed; CI=true runs it anyway.`);
    return Object.assign((title: string) => test.skip(title), { ...test, before: ignored, after: ignored });
  }
  let failures = 0;
  const counted =
    (handler: Callback): Callback =>
    async (context) => {
      failures++;
      await handler(context);
      failures--;
    };
  return Object.assign((title: string, handler: Callback) => test(title, counted(handler)), {
    ...test,
    run() {
      test.after(() => {
        if (failures > 0) return;
        mkdirSync(cache, { recursive: true });
        writeFileSync(record, digest);
      });
      test.run();
    },
  });
}

const ignored = Object.assign(() => undefined, { each: () => undefined });

function digestOf({ files, texts = [] }: Inputs): string {
  const hash = createHash('sha256').update(process.version);
  for (const text of texts) hash.update(`\0${text}`);
  for (const file of files.flatMap(filesBelow).sort())
    hash.update(`\0${file}\0`).update(readFileSync(join(project, file)));
  return hash.digest('hex');
}

/** Lists a file, or the files of a folder except installed packages. */
function filesBelow(path: string): string[] {
  if (!statSync(join(project, path)).isDirectory()) return [path];
  return readdirSync(join(project, path))
    .filter((name) => name !== 'node_modules')
    .flatMap((name) => filesBelow(join(path, name)));
}
