/** Forms as multipart/form-data: their content, and the slices in which the server reads them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Pair, readMultipart, UploadedFile } from '../../../src/kernel/http/multipart.ts';

const forms = suite('multipart forms');

const type = 'multipart/form-data; boundary=edge';
const read = async (body: string | Buffer, contentType = type): Promise<readonly unknown[]> => {
  const pairs: Pair[] = [];
  await readMultipart(typeof body === 'string' ? Buffer.from(body) : body, contentType, (pair) => pairs.push(pair));
  return pairs.map(([name, value]) =>
    value instanceof UploadedFile ? [name, value.name, value.type, value.content.toString('latin1')] : [name, value],
  );
};
const part = (head: string, value = '', further = '') =>
  `--edge\r\nContent-Disposition: form-data; ${head}${further}\r\n\r\n${value}\r\n`;
const end = '--edge--\r\n';
const problem = (body: string | Buffer, contentType?: string): Promise<string> =>
  read(body, contentType).then(
    (pairs) => `read ${JSON.stringify(pairs)}`,
    (error: Error) => error.message,
  );

forms('reads fields and files in order, with unchanged bytes', async () => {
  const file = Buffer.concat([
    Buffer.from(part('name="image"; filename="p.png"', '', '\r\nContent-Type: image/PNG; x=y').slice(0, -2)),
    Buffer.from([0x89, 0x00, 0xff, 0x0d, 0x0a, 0x2d, 0x2d, 0x0d, 0x0a]),
    Buffer.from('\r\n'),
  ]);
  const body = Buffer.concat([
    Buffer.from(`preamble\r\n${part('name="a"', 'Café\r\n--edg')}${part('name=""', '')}`),
    file,
    Buffer.from(`${part('name="a"', '2')}--edge--\r\nepilogue`),
  ]);
  assert.equal(await read(body), [
    ['a', 'Café\r\n--edg'],
    ['', ''],
    ['image', 'p.png', 'image/png', '\x89\0\xff\r\n--\r\n'],
    ['a', '2'],
  ]);
  assert.equal(await read('--edge--'), []);
  assert.equal(await read(`--edge \t\r\n${part('name=a', 'x').slice(8)}${end}`), [['a', 'x']]);
});

forms('reads names in the notations of clients', async () => {
  for (const [head, pair] of [
    ['name=plain', ['plain', '']],
    ['NAME="Loud"', ['Loud', '']],
    ['name="a;b=c"', ['a;b=c', '']],
    [String.raw`name="a\"b"`, ['a"b', '']],
    ['name="é"', ['é', '']],
    ["name*=utf-8''%C3%A9", ['é', '']],
    ["name*=iso-8859-1'et'%E9", ['é', '']],
    ['name="f"; filename="a b.txt"', ['f', 'a b.txt', 'text/plain', '']],
    [String.raw`name="f"; filename="C:\dir\a.txt"`, ['f', 'a.txt', 'text/plain', '']],
    ['name="f"; filename="../../a.txt"', ['f', 'a.txt', 'text/plain', '']],
    ['name="f"; filename="e.txt"; filename*=UTF-8\'\'%c3%a9.txt', ['f', 'é.txt', 'text/plain', '']],
  ] as const) {
    const isFile = pair.length > 2;
    const body = part(head, isFile ? 'x' : '') + end;
    assert.equal(await read(body), [isFile ? [...pair.slice(0, 3), 'x'] : pair], head);
  }
});

forms('a file input without a selected file is absent, an empty file is not', async () => {
  assert.equal(await read(part('name="f"; filename=""') + end), []);
  assert.equal(await read(part('name="f"; filename="a"') + end), [['f', 'a', 'text/plain', '']]);
  const bytes = part('name="f"', 'x', '\r\nContent-Type: application/octet-stream');
  assert.equal(await read(bytes + end), [['f', '', 'application/octet-stream', 'x']]);
});

forms('values are UTF-8, unless they name another charset', async () => {
  const latin = (head: string, further = '') =>
    Buffer.concat([Buffer.from(part(head, '', further).slice(0, -2)), Buffer.from([0xe9]), Buffer.from(`\r\n${end}`)]);
  assert.is(await problem(latin('name="a"')), 'invalid UTF-8');
  assert.is(await problem(latin('name="a"', '\r\nContent-Type: text/plain; charset=UTF-8')), 'invalid UTF-8');
  const named = '\r\nContent-Type: text/plain; charset="iso-8859-1"';
  assert.equal(await read(latin('name="a"', named)), [['a', 'é']]);
  const unknown = '\r\nContent-Type: text/plain; charset=klingon';
  assert.is(await problem(latin('name="a"', unknown)), 'text that is not in its charset "klingon"');
  for (const head of ['name="\xe9"', 'name="a"; filename="\xe9.png"'])
    assert.is(await problem(Buffer.from(part(head, 'x') + end, 'latin1')), 'invalid UTF-8', head);
  assert.is(await problem(part("name*=utf-8''%E9") + end), 'invalid UTF-8');
});

forms('rejects input that is not a form, with a reason', async () => {
  for (const [body, reason] of [
    ['', 'unexpected end of the form'],
    ['no part at all', 'unexpected end of the form'],
    ['--edge', 'unexpected end of the form'],
    ['--edge\r\n', 'unexpected end of the form'],
    [part('name="a"'), 'unexpected end of the form'],
    [`--edgeX\r\n${end}`, 'malformed delimiter'],
    [`--edge\r\n\r\n${end}`, 'a part without headers'],
    [
      `--edge\r\nContent-Type: text/plain\r\n\r\nx\r\n${end}`,
      'a part without "Content-Disposition: form-data" and a name',
    ],
    [part('filename="a"') + end, 'a part without "Content-Disposition: form-data" and a name'],
    [part('name="a\nb"') + end, 'malformed header of a part'],
    [part(`name="${'a'.repeat(20_000)}"`) + end, 'the headers of a part are too large'],
    [part('name="a"').repeat(2001) + end, 'more than 2000 fields or 10 files'],
    [part('name="a"; filename="b"').repeat(11) + end, 'more than 2000 fields or 10 files'],
  ] as const)
    assert.is(await problem(body), reason, body.slice(0, 60));
  for (const contentType of ['multipart/form-data', 'multipart/form-data; boundary=', `${type}${'x'.repeat(100)}`])
    assert.is(await problem(end, contentType), 'the boundary is missing or too long');
  assert.equal(await read(part('name="a"') + end, 'multipart/form-data; charset=utf-8; Boundary="edge"'), [['a', '']]);
});

forms('lets other work run between two slices of a form, one slice for each iteration', async () => {
  const body = Buffer.from(part('name="a"').repeat(1900) + end);
  const turnsOf = async (count: number): Promise<number> => {
    let turns = 0;
    const forms = Promise.all(Array.from({ length: count }, () => readMultipart(body, type, () => undefined)));
    let isOver = false;
    const tick = (): void => {
      turns++;
      if (!isOver) setImmediate(tick);
    };
    setImmediate(tick);
    await forms;
    isOver = true;
    return turns;
  };
  const [one, five] = [await turnsOf(1), await turnsOf(5)];
  assert.ok(one >= 9, `${one} turns`);
  assert.ok(five >= 5 * 9, `${five} turns`);
});

forms.run();
