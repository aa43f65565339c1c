import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { literalPrefix } from '../../../src/cloud/catalogue/pattern.ts';

const test = suite('beginnings of expressions');

test('finds the literal prefix of all matches in simple expressions', () => {
  const beginnings = Object.fromEntries(
    [
      '^amzn2-',
      '^amzn2-.*-gp2$',
      '^ubuntu/images (x|y)',
      '^v1\\.2\\+',
      '^ab?c',
      '^ab*',
      '^ab{0,2}',
      '^ab+',
      '^a\\.?b',
      '^',
      '^.*x',
      '^\\d+',
      '^(a|b)',
      '^a|b',
      '^a\\|b',
      'amzn2',
      '(?i)^a',
      '',
    ].map((expression) => [expression, literalPrefix(expression)]),
  );
  assert.equal(beginnings, {
    '^amzn2-': 'amzn2-',
    '^amzn2-.*-gp2$': 'amzn2-',
    '^ubuntu/images (x|y)': 'ubuntu/images ',
    '^v1\\.2\\+': 'v1.2+',
    '^ab?c': 'a',
    '^ab*': 'a',
    '^ab{0,2}': 'a',
    '^ab+': 'ab',
    '^a\\.?b': 'a',
    '^': '',
    '^.*x': '',
    '^\\d+': '',
    '^(a|b)': '',
    '^a|b': '',
    '^a\\|b': 'a|b',
    amzn2: '',
    '(?i)^a': '',
    '': '',
  });
});

test.run();
