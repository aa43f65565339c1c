import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('architecture');

/** Code for browsers. It uses the program only through its API, and the program does not import it. */
const pages = 'console';

/** The layers from the lowest up, with their modules. A layer imports only from the layers below. */
const layers: Readonly<Record<string, readonly string[]>> = {
  kernel: [
    'access',
    'cache',
    'collection',
    'config',
    'db',
    'durability',
    'http',
    'jobs',
    'mail',
    'metrics',
    'native',
    'net',
    'outbox',
    'security',
    'threads',
  ],
  activity: ['alerts', 'audit', 'events', 'hooks', 'notifications', 'quotas', 'scopes', 'stats'],
  accounts: [
    'api-keys',
    'certifications',
    'customers',
    'invitations',
    'service-accounts',
    'keys',
    'permissions',
    'projects',
    'roles',
    'session',
    'users',
  ],
  cloud: ['catalogue', 'entities', 'operations', 'people', 'properties', 'providers', 'resources', 'services', 'sync'],
  app: [
    'backup',
    'cli',
    'compose',
    'console',
    'counters',
    'data',
    'demo',
    'docs',
    'doctor',
    'examples',
    'export',
    'fixture',
    'operation',
    'people',
    'replication',
    'scopes',
    'server',
  ],
};

const maxLines = 450;

/** Files that the declaration of a small collection (SSH keys) may import, with their own imports. */
const maxFilesOfCollection = 51;

const source = fileURLToPath(new URL('../src/', import.meta.url));

/** Every file of the program by its path below src, with its text. */
const texts = new Map(
  readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => [relative(source, file), readFileSync(file, 'utf8')] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1)),
);

interface Edge {
  readonly from: string;
  readonly to: string;
}

/** All imports in src: of values and types, dynamic imports, re-exports and module augmentations. */
const imports: readonly Edge[] = [...texts]
  .flatMap(([from, text]) =>
    [...text.matchAll(/\b(?:from|import|declare module)\s*\(?\s*'(\.[^']+)'/g)].map(([, path]) => ({
      from,
      to: join(dirname(from), path as string),
    })),
  )
  .filter(({ to }) => !to.startsWith('..'));

const layerOf = (file: string): string => file.split('/')[0] as string;

/**
 * Returns the module of a file: its folder in the layer, or for vendors the folder of a kind. A file directly in the layer is a
 * module.
 */
const moduleOf = (file: string): string => {
  const folders = file.split('/').slice(0, -1);
  return folders.length < 2 ? file : folders.slice(0, folders[1] === 'providers' ? 4 : 2).join('/');
};

/** The edges that are part of a cycle. */
function circular(edges: readonly Edge[]): Edge[] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of edges) targets.set(from, (targets.get(from) ?? new Set()).add(to));
  const reached = new Map<string, Set<string>>();
  const reachable = (start: string): Set<string> => {
    const known = reached.get(start);
    if (known) return known;
    const nodes = new Set([start]);
    for (const node of nodes) for (const target of targets.get(node) ?? []) nodes.add(target);
    reached.set(start, nodes);
    return nodes;
  };
  return edges.filter(({ from, to }) => reachable(to).has(from));
}

const lines = (edges: readonly Edge[]): string => edges.map(({ from, to }) => `${from} > ${to}`).join('\n');

test('imports only existing files of the program', () => {
  assert.is(lines(imports.filter(({ to }) => !existsSync(join(source, to)))), '');
});

test('assigns every file to a known module of a layer', () => {
  const known = new Set(
    Object.entries({ ...layers, [pages]: ['api', 'components', 'format', 'i18n', 'pages', 'shell'] }).flatMap(
      ([layer, modules]) => modules.map((module) => `${layer}/${module}`),
    ),
  );
  const folders = [...texts.keys()].map((file) => file.split('/').slice(0, -1).slice(0, 2).join('/'));
  const unknown = new Set(
    folders.filter((folder) => !known.has(folder) && layers[folder] === undefined && folder !== pages),
  );
  assert.equal([...unknown], [], 'unknown modules');
  assert.equal(
    [...known].filter((module) => !folders.includes(module)),
    [],
    'modules without files',
  );
});

test('imports nothing in a layer from a layer above it', () => {
  const order = Object.keys(layers);
  const level = (file: string): number => order.indexOf(layerOf(file));
  assert.is(lines(imports.filter(({ from, to }) => level(to) > level(from))), '');
});

test('separates the imports of browser code and program', () => {
  assert.is(lines(imports.filter(({ from, to }) => (layerOf(from) === pages) !== (layerOf(to) === pages))), '');
});

test('imports in browser code only the types generated from the OpenAPI document', () => {
  const packages = new Set([
    '@preact/signals',
    '@simplewebauthn/browser',
    'openapi-fetch',
    'preact',
    'preact/hooks',
    'uplot',
  ]);
  const taken = [...texts]
    .filter(([file]) => layerOf(file) === pages)
    .flatMap(([file, text]) =>
      [...text.matchAll(/^import (.*) from '([^.][^']*)';$/gm)].map((matches) => [file, ...matches]),
    )
    .filter(([, , names, from = '']) => !packages.has(from) && !(from === 'tenantry' && names?.startsWith('type ')));
  assert.equal(
    taken.map(([file, line]) => `${file}: ${line}`),
    [],
  );
});

test('has no cycle of files', () => {
  assert.is(lines(circular(imports)), '');
});

test('has no cycle of modules', () => {
  const between = imports.filter(({ from, to }) => moduleOf(from) !== moduleOf(to));
  const modules = circular(between.map(({ from, to }) => ({ from: moduleOf(from), to: moduleOf(to) })));
  const pairs = new Set(modules.map(({ from, to }) => `${from} > ${to}`));
  assert.is(lines(between.filter(({ from, to }) => pairs.has(`${moduleOf(from)} > ${moduleOf(to)}`))), '');
});

/** Words of higher layers that the code of a layer must not contain, from the table of subjects in src/README.md. */
const vendors = /openstack|digital_?ocean|droplets?|amazon|aws|gitlab|jira|oracle/;
const unknownWords: Readonly<Record<string, { readonly words: RegExp; readonly exceptions: readonly string[] }>> = {
  kernel: {
    words: new RegExp(`^(?:${vendors.source}|customers?|projects?|invitations?|quotas?|alerts?|webhooks?|resources?)$`),
    // Visibility and rights are based on roles in customers and projects. The list of the bundle's parts names packages.
    exceptions: ['access/right.ts', 'access/rights.ts', 'access/visibility.ts', 'native/parts.ts'],
  },
  // Help texts name a type as an example.
  activity: { words: new RegExp(`^(?:${vendors.source})$`), exceptions: ['events/filters.ts'] },
  accounts: { words: new RegExp(`^(?:${vendors.source})$`), exceptions: [] },
};

test('names nothing in a layer that only higher layers know', () => {
  const named = Object.entries(unknownWords).flatMap(([layer, { exceptions, words }]) =>
    [...texts]
      .filter(([file]) => layerOf(file) === layer && !exceptions.includes(file.slice(layer.length + 1)))
      .flatMap(([file, text]) => {
        const namesIn =
          codeOf(text)
            .replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
            .match(/[A-Za-z]+/g) ?? [];
        return [...new Set(namesIn.map((word) => word.toLowerCase()))]
          .filter((word) => words.test(word))
          .map((word) => `${file}: ${word}`);
      }),
  );
  assert.equal(named, []);
});

/** The text of a file without comments. */
const codeOf = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, '');

const migrations = readdirSync(join(source, '../migrations'))
  .map((file) => readFileSync(join(source, '../migrations', file), 'utf8').replace(/--.*/g, ''))
  .join('\n');

/** Every table and view of the database. */
const tables = [
  ...new Set(
    [...migrations.matchAll(/CREATE (?:VIRTUAL )?(?:TABLE|VIEW) (?:IF NOT EXISTS )?"?(\w+)/gi)].map(
      ([, name = '']) => name,
    ),
  ),
].sort();

/** Statements that name a table, by the strength of their claim. */
const inserting = /\bINSERT(?: OR [A-Z]+)? INTO "?(\w+)|\.insert\(\s*'(\w+)'/g;
const changing = /\b(?:UPDATE|DELETE FROM) "?(\w+)|\.update\(\s*'(\w+)'/g;
const naming =
  /\b(?:INTO|UPDATE|FROM|JOIN) "?(\w+)|\.(?:insert|update|rowsIn)\(\s*'(\w+)'|\btable: '(\w+)'|\buuidOf\('[^']*', '(\w+)'/g;

/** Returns the tables that the code of a layer names in statements of a kind, with the files. */
function tablesIn(layer: string, pattern: RegExp): Map<string, Set<string>> {
  const uses = new Map<string, Set<string>>();
  for (const [file, text] of texts) {
    if (layerOf(file) !== layer) continue;
    for (const [, ...names] of codeOf(text).matchAll(pattern)) {
      const table = names.find((name) => name !== undefined && tables.includes(name));
      if (table !== undefined) uses.set(table, (uses.get(table) ?? new Set()).add(file));
    }
  }
  return uses;
}

/**
 * Tables that the kernel reads although a higher layer writes them: callers, their API keys, factors and roles, and the state of
 * the clock.
 */
const sharedTables: Readonly<Record<string, string>> = {
  user: 'kernel',
  api_key: 'kernel',
  active_customer_role: 'kernel',
  active_project_role: 'kernel',
  api_key_bound: 'kernel',
  bound_customer_role: 'kernel',
  bound_project_role: 'kernel',
  second_factor: 'kernel',
  deployment: 'kernel',
};

/** Files that may name tables of higher layers: a role in a customer also applies to its projects. */
const filesNamingHigherTables = ['kernel/access/visibility.ts: project'];

/**
 * Returns the layer that owns each table: the lowest that inserts rows, otherwise the lowest that changes them or names the
 * table.
 */
function tableOwners(): Map<string, string> {
  const owners = new Map(Object.entries(sharedTables));
  for (const pattern of [inserting, changing, naming])
    for (const layer of Object.keys(layers))
      for (const table of tablesIn(layer, pattern).keys()) owners.set(table, owners.get(table) ?? layer);
  return owners;
}

test('names no table of a higher layer in the SQL of a layer', () => {
  const order = Object.keys(layers);
  const owners = tableOwners();
  const expected = {
    customer: 'accounts',
    project: 'accounts',
    event: 'activity',
    service: 'cloud',
    resource: 'cloud',
  };
  for (const [table, layer] of Object.entries(expected)) assert.is(owners.get(table), layer, table);
  const violations = order.flatMap((layer, level) =>
    [...tablesIn(layer, naming)]
      .filter(([table]) => order.indexOf(owners.get(table) ?? layer) > level)
      .flatMap(([table, files]) => [...files].map((file) => `${file}: ${table}`)),
  );
  assert.equal(violations, filesNamingHigherTables);
});

test(`imports at most ${maxFilesOfCollection} files for a small collection`, () => {
  const drawn = new Set([join('accounts', 'keys', 'keys.ts')]);
  for (const file of drawn) for (const { from, to } of imports) if (from === file) drawn.add(to);
  assert.ok(drawn.size <= maxFilesOfCollection, `${drawn.size} files`);
});

test(`has no file longer than ${maxLines} lines`, () => {
  const counts = [...texts].map(([file, text]) => [file, text.split('\n').length - 1] as const);
  assert.equal(
    counts.filter(([, count]) => count > maxLines).map(([file, count]) => `${file}: ${count}`),
    [],
  );
});

test('starts servers in tests from the built file', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const importing = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules'))
    .filter((file) =>
      /from '[./]+\/src\/app\/(create-server|main|server\/engine)\.ts'/.test(readFileSync(join(folder, file), 'utf8')),
    );
  // It adds to declarations of the source.
  assert.equal(importing, [join('app', 'added-field.test.ts')]);
});

test.run();
