/** The order in which the runner starts test files. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { longFiles, sortByDuration } from '../support/runner/durations.ts';

const test = suite('order of test files');

test('starts the longest first, by their last run or else by what they usually take', () => {
  const files = [
    'accounts/quick.test.ts',
    'attacks/some.test.ts',
    'app/clock.test.ts',
    'console/accessibility.test.ts',
  ];
  assert.equal(sortByDuration(files, {}), [...files].reverse());
  assert.equal(sortByDuration(files, { 'accounts/quick.test.ts': 35_000 }), [
    'console/accessibility.test.ts',
    'accounts/quick.test.ts',
    'app/clock.test.ts',
    'attacks/some.test.ts',
  ]);
});

test('names only files that exist', () => {
  const missing = Object.keys(longFiles).filter(
    (file) => !existsSync(fileURLToPath(new URL(`../${file}`, import.meta.url))),
  );
  assert.equal(missing, []);
});

test.run();
