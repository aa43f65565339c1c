import { exact } from '../../kernel/collection/filter.ts';
import { choice, orNull, text } from '../../kernel/collection/values.ts';
import { hookCollection } from './hook.ts';

/** What names one device; no two hooks have the same. */
const identifier = (column: string, words: string) =>
  orNull(
    text({
      max: 255,
      required: true,
      unique: { column, of: (value) => value, message: () => `push hook with this ${words} already exists.` },
    }),
  );

export const pushHooks = hookCollection({
  kind: 'push',
  path: 'hooks-push',
  type: 'pushhook',
  name: 'Push Hook',
  description: 'Hooks that notify a mobile device through a push gateway.',
  fields: {
    type: choice({
      required: true,
      choices: () => [
        ['Android', 'Android'],
        ['iOS', 'iOS'],
      ],
      help: 'Platform of the device.',
    }),
    device_id: identifier('device_id', 'device id'),
    token: identifier('token', 'token'),
    device_manufacturer: orNull(text({ max: 255 })),
    device_model: orNull(text({ max: 255 })),
  },
  example: {
    type: 'Android',
    device_id: '9774d56d682e549c',
    token: 'registration-token-of-the-device',
    device_model: 'Pixel 9',
    event_groups: ['resources'],
  },
  filters: {
    type: exact('h.type'),
    device_id: exact('h.device_id'),
    token: exact('h.token'),
    device_manufacturer: exact('h.device_manufacturer'),
    device_model: exact('h.device_model'),
  },
});
