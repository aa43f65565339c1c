import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { urlOf } from '../../src/kernel/url.ts';

const urls = suite('URLs');

urls('a text is read as a URL, with a base where it has none separately; anything else is none', () => {
  assert.is(urlOf('https://a.example/b')?.href, 'https://a.example/b');
  assert.is(urlOf('/b', 'https://a.example')?.href, 'https://a.example/b');
  assert.equal([urlOf('/b'), urlOf('https://'), urlOf('')], [undefined, undefined, undefined]);
});

urls('letters beyond ASCII are read however often that is done', () => {
  for (let i = 0; i < 20_000; i++)
    if (urlOf('https://Bücher.example/é')?.host !== 'xn--bcher-kva.example') assert.unreachable(`the ${i}th time`);
});

urls.run();
