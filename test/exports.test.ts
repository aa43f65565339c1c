/** Every export of the program is imported by another file. Declarations used only in their own file must not be exported. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const exports = suite('exports');
const root = fileURLToPath(new URL('..', import.meta.url));

/** Imports of embedding programs, and the types that its declarations name. */
const published = 'src/app/main.ts';
const named: ReadonlySet<string> = new Set([
  'src/accounts/session/saml/config.ts MetadataUrl',
  'src/kernel/security/expiring-rows.ts ExpiringRows',
]);

const filesIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join(folder, file.replaceAll('\\', '/')))
    .filter((file) => ending.test(file) && !file.includes('node_modules'));

/** The text of the build, which imports some functions by name when it assembles the one file. */
const build = [join(root, 'build.mjs'), ...filesIn('src/build', /\.mjs$/).map((file) => join(root, file))]
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** Adds the exports of other files that a file uses, as `<file> <name>`; `<file> *` stands for all. */
function addUses(file: string, source: ts.SourceFile, used: Set<string>): void {
  const add = (specifier: string, ...names: readonly string[]): void => {
    if (specifier.startsWith('.'))
      for (const name of names) used.add(`${posix.normalize(posix.join(dirname(file), specifier))} ${name}`);
  };
  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) {
      const { text } = node.moduleSpecifier as ts.StringLiteral;
      const clause = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
      if (ts.isImportDeclaration(node) && node.importClause?.name) add(text, 'default');
      if (clause && 'elements' in clause)
        add(text, ...[...clause.elements].map(({ name, propertyName }) => (propertyName ?? name).text));
      else if (clause || ts.isExportDeclaration(node)) add(text, '*');
    }
    const isImport = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
    if (isImport && node.arguments[0] && ts.isStringLiteralLike(node.arguments[0])) add(node.arguments[0].text, '*');
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add((node.argument.literal as ts.StringLiteral).text, node.qualifier?.getText() ?? '*');
    // An interface is exported if other modules extend it.
    if (ts.isModuleDeclaration(node) && ts.isStringLiteral(node.name) && node.body && ts.isModuleBlock(node.body))
      for (const statement of node.body.statements)
        if (ts.isInterfaceDeclaration(statement)) add(node.name.text, statement.name.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
}

function exportedBy(source: ts.SourceFile): string[] {
  return source.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
    return 'name' in statement && statement.name ? [(statement.name as ts.Identifier).text] : ['default'];
  });
}

exports('uses every export in another file', () => {
  const used = new Set<string>();
  const exported: string[] = [];
  for (const file of [...filesIn('src', /\.tsx?$/), ...filesIn('test', /\.tsx?$/)]) {
    const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
    addUses(file, source, used);
    if (file.startsWith('src/') && file !== published)
      for (const name of exportedBy(source)) exported.push(`${file} ${name}`);
  }
  assert.ok(exported.length > 2000);
  const isUsed = (key: string): boolean => {
    const [file = '', name = ''] = key.split(' ');
    return named.has(key) || used.has(key) || used.has(`${file} *`) || new RegExp(`\\b${name}\\b`).test(build);
  };
  assert.equal(
    exported.filter((key) => !isUsed(key)),
    [],
  );
});

exports.run();
