import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { urlOf } from '../../src/kernel/url.ts';

const urls = suite('URLs');

urls('parses a URL, relative to a base if necessary; returns undefined for anything else', () => {
  assert.is(urlOf('https://a.example/b')?.href, 'https://a.example/b');
  assert.is(urlOf('/b', 'https://a.example')?.href, 'https://a.example/b');
  assert.equal([urlOf('/b'), urlOf('https://'), urlOf('')], [undefined, undefined, undefined]);
});

urls('parses non-ASCII letters any number of times', () => {
  for (let i = 0; i < 20_000; i++)
    if (urlOf('https://Bücher.example/é')?.host !== 'xn--bcher-kva.example') assert.unreachable(`the ${i}th time`);
});

urls.run();
