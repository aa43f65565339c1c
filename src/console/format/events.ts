/** The mark of an event in a timeline. */
import { type Item, textOf } from '../item.ts';
import type { Tone } from './status.ts';

interface Mark {
  readonly icon: string;
  readonly tone?: Tone | undefined;
}

/** Marks by the end of the event type, the most specific first. */
const marks: readonly (readonly [pattern: RegExp, mark: Mark])[] = [
  [/_failed(_|$)/, { icon: 'bad', tone: 'bad' }],
  [/role_granted|invitation_accepted/, { icon: 'invite' }],
  [/role_revoked/, { icon: 'user' }],
  [/start_succeeded/, { icon: 'start', tone: 'good' }],
  [/stop_succeeded/, { icon: 'stop' }],
  [/restart_succeeded/, { icon: 'restart', tone: 'good' }],
  [/(creation|import)_succeeded/, { icon: 'create', tone: 'good' }],
  [/deletion_succeeded/, { icon: 'delete' }],
  [/update_succeeded/, { icon: 'edit' }],
  [/_scheduled$/, { icon: 'busy', tone: 'busy' }],
  [/^auth_/, { icon: 'keys' }],
  [/invitation/, { icon: 'user-invitations' }],
  [/^hook|notification/, { icon: 'hooks' }],
  [/quota|threshold/, { icon: 'quotas', tone: 'warn' }],
];

/** Returns the icon and tone of an event by its type and level. */
export function markOf(event: Item): Mark {
  const type = textOf(event, 'event_type');
  const [, mark] = marks.find(([pattern]) => pattern.test(type)) ?? [];
  if (mark) return mark;
  const level = textOf(event, 'level');
  return level === 'error' || level === 'critical'
    ? { icon: 'bad', tone: 'bad' }
    : level === 'warning'
      ? { icon: 'warn', tone: 'warn' }
      : { icon: 'events' };
}
