import { monitorEventLoopDelay } from 'node:perf_hooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parsedXml } from '../../../src/cloud/catalogue/xml.ts';

const test = suite('responses in XML');

const read = (text: string): Promise<unknown> => parsedXml(Buffer.from(text), 'item');

test('converts elements to objects, items to arrays, and all others to strings', async () => {
  const text = `<?xml version="1.0" encoding="UTF-8"?>
    <Answer xmlns="http://example.com/">
      <name> web &amp; &lt;shop&gt; &#228; </name><empty/><none></none>
      <data><![CDATA[<raw>]]></data>
      <set><item><id>1</id></item><item>two</item></set>
      <deep><er><est>x</est></er></deep>
    </Answer>`;
  assert.equal(await read(text), {
    Answer: {
      name: 'web & <shop> ä',
      empty: '',
      none: '',
      data: '<raw>',
      set: [{ id: '1' }, 'two'],
      deep: { er: { est: 'x' } },
    },
  });
});

test('removes control characters from texts', async () => {
  assert.equal(await read('<a>x\u202ey</a>'), { a: 'xy' });
});

test('reads multi-byte characters across chunk boundaries', async () => {
  const text = 'ä€😀'.repeat(10_000);
  for (const before of ['', 'x', 'xx', 'xxx'])
    assert.equal(await read(`<a>${before}${text}</a>`), { a: before + text });
});

test('returns undefined for invalid XML', async () => {
  for (const text of ['', ' ', 'It works!', '{"a":1}', '<a>', '<a><b></a></b>', '<a>&nothing;</a>', '<a/>more', '<a'])
    assert.is(await read(text), undefined, text);
});

test('does not expand entities of the document', async () => {
  const lol = '<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;&x;&x;">]><a>&y;</a>';
  assert.is(await read(lol), undefined);
  assert.is(await read('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'), undefined);
});

test('an element name such as __proto__ is only a name', async () => {
  const response = await read('<a><__proto__><x>1</x></__proto__></a>');
  assert.is(({} as { x?: string }).x, undefined);
  assert.is(JSON.stringify(response), '{"a":{"__proto__":{"x":"1"}}}');
});

test('a long response does not block the event loop', async () => {
  const item = `<item>${'<name>a value of some length</name>'.repeat(20)}</item>`;
  const text = `<a><set>${item.repeat(5000)}</set></a>`;
  await read(text);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const response = (await read(text)) as { readonly a: { readonly set: readonly unknown[] } };
  delay.disable();
  assert.is(response.a.set.length, 5000);
  assert.ok(delay.percentile(50) / 1e6 < 20, `${delay.percentile(50) / 1e6} ms`);
});

test.run();
