import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Plan } from '../../../src/app/demo/plan.ts';
import { Story } from '../../../src/app/demo/script.ts';
import { Seed } from '../../../src/app/demo/seed.ts';
import { day, hour, minute } from '../../../src/kernel/clock.ts';

const scripts = suite('scripts of the sample data');

const now = Date.UTC(2020, 5, 1, 12) * 1000;

function storyOf(script: ConstructorParameters<typeof Story>[3][string] = []): Story {
  const seed = new Seed('test');
  return new Story(new Plan(now, seed), seed, { now, project: { begins: now - 9 * day } }, { script });
}

scripts('read instants with offsets, bounds and ranges', () => {
  const story = storyOf();
  assert.is(story.instant('now - 3m'), now - 3 * minute);
  assert.is(story.instant('now - 1d + 2h'), now - day + 2 * hour);
  assert.is(story.instant('max(now - 1d, project/begins)'), now - day);
  assert.is(story.instant('min(now - 1d, project/begins)'), now - 9 * day);
  const later = story.instant('project/begins + 1h..30h') - (now - 9 * day);
  assert.ok(later >= hour && later < 30 * hour, String(later));
  const between = story.instant('project/begins .. now');
  assert.ok(between >= now - 9 * day && between < now, String(between));
  const ago = (now - story.instant('5d ago')) / day;
  assert.ok(ago > 1 && ago < 6, String(ago));
});

scripts('name the value that does not exist', () => {
  assert.throws(
    () => storyOf([{ at: 'project/ends + 1h', send: 'POST /api/keys/' }]).play('script'),
    'a script names project/ends, which does not exist',
  );
  assert.throws(
    () => storyOf([{ grant: 'admin', to: 'people/bob', in: 'project' }]).play('script'),
    'a script names people/bob, which does not exist',
  );
});

scripts('skip steps whose condition fails', () => {
  const step = { at: 'nothing', send: 'POST /api/keys/' };
  storyOf([
    { if: 'project/ends', ...step },
    { unless: 'project/begins', ...step },
    { each: [], as: 'item', do: [step] },
  ]).play('script');
});

scripts.run();
