import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { flag, integer, list, oneOf, optionalInteger } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof userSettings> {}
}

/** Settings of users, their passwords and tokens. */
export const userSettings = {
  user_competences: list([], "Choices of a user's competence."),
  password_min_length: integer(7, 'Least number of characters of a new password.', 7, 1000),
  password_refuse_weak: flag(false, 'Refuses new passwords that hold the username or are on a list of common ones.'),
  password_requires_current: flag(false, 'A change of the own password or email needs the present password.'),
  token_lifetime_max: optionalInteger(
    'Longest token lifetime in seconds that users other than staff may choose; default: any.',
    60,
  ),
  users_visible: oneOf(
    ['all', 'connected'],
    'all',
    'Whom users see: all, or connected: people of their own customers and projects, others by the exact name only.',
  ),
  native_name_enabled: flag(false, 'Tells web clients to show native names.'),
} satisfies Settings;
