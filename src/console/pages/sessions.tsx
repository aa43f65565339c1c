/** The sessions of a user. */
import type { JSX } from 'preact';
import { type Item, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { ListCard } from '../components/list-card.tsx';
import { PostButton } from '../components/post.tsx';
import { Badge } from '../components/status.tsx';
import { Time } from '../components/values.tsx';
import { programOf } from '../format/programs.ts';
import { phrase, t, titleOf } from '../i18n/words.ts';

/** Sessions with buttons to end them. `isOwn` means those of the signed-in user. */
export function Sessions({ user, isOwn }: { readonly user: string; readonly isOwn: boolean }): JSX.Element {
  const query = `user_uuid=${user}`;
  const { value: page } = usePage(`/api/sessions/?${query}&page_size=1`);
  return (
    <ListCard
      title={titleOf('sessions')}
      path="/sessions/"
      query={query}
      empty={t('No sessions.')}
      lines={lines}
      actions={
        isOwn &&
        page &&
        page.count > 1 && (
          <PostButton title={t('End all others')} path="/api/sessions/end_others/" about={titleOf('sessions')} />
        )
      }
    />
  );
}

const lines = (sessions: readonly Item[]): JSX.Element => (
  <ul class="lines">
    {sessions.map((session) => (
      <li key={textOf(session, 'url')}>
        <span class="words">
          <b title={textOf(session, 'user_agent')}>{programOf(session)}</b>
          <span class="sub">
            {phrase('since {start}, last used {end}', {
              start: <Time value={textOf(session, 'created')} />,
              end: <Time value={textOf(session, 'last_use')} />,
            })}
          </span>
        </span>
        <span class="end">
          {session.is_current === true ? (
            <Badge tone="good">{t('This session')}</Badge>
          ) : (
            <PostButton
              title={t('End session')}
              method="DELETE"
              path={`/api/sessions/${textOf(session, 'uuid')}/`}
              about={programOf(session)}
            />
          )}
        </span>
      </li>
    ))}
  </ul>
);
