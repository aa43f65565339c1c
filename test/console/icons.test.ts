/**
 * The console's copies of icons. To add one, add its name with an empty list to `src/console/components/lucide.json`: the first
 * test prints its elements.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import copied from '../../src/console/components/lucide.json' with { type: 'json' };

const { resolve } = createRequire(import.meta.url);
const lucide = await import('lucide');

const test = suite('icons');

test('are those of Lucide', () => {
  const originals = Object.fromEntries(Object.entries(lucide).filter(([name]) => Object.hasOwn(copied, name)));
  assert.equal({ ...copied }, originals);
});

test('have the licence of Lucide', () => {
  const folder = resolve('lucide').replace(/[/\\]dist[/\\].*/, '');
  const copy = new URL('../../src/console/components/lucide-LICENSE.txt', import.meta.url);
  assert.is(readFileSync(copy, 'utf8'), readFileSync(`${folder}/LICENSE`, 'utf8'));
});

test.run();
