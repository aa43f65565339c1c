import type { ConfigOf, Settings } from '../../kernel/config/config.ts';
import { flag, integer, list, oneOf, optionalInteger } from '../../kernel/config/setting.ts';

declare module '../../kernel/config/config.ts' {
  interface Config extends ConfigOf<typeof userSettings> {}
}

/** The settings of users, passwords and tokens. */
export const userSettings = {
  user_competences: list([], "Choices of a user's competence."),
  password_min_length: integer(7, 'Minimum length of a new password, in characters.', 7, 1000),
  password_refuse_weak: flag(
    false,
    'Rejects new passwords that contain the username or are on a list of common passwords.',
  ),
  password_requires_current: flag(
    false,
    'Requires the current password when users change their own password or email.',
  ),
  token_lifetime_max: optionalInteger(
    'Maximum token lifetime, in seconds, that users other than staff may choose; default: unlimited.',
    60,
  ),
  users_visible: oneOf(
    ['all', 'connected'],
    'all',
    'Which users a user can list: all, or connected (only people in shared customers and projects; others are found by exact name).',
  ),
  native_name_enabled: flag(false, 'Whether web clients show native names.'),
} satisfies Settings;
