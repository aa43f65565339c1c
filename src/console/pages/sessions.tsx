/** The sessions of a user: the signed-in programs, with buttons to end them. */
import type { JSX } from 'preact';
import { type Item, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { Listing } from '../components/listing.tsx';
import { PostButton } from '../components/post.tsx';
import { Badge } from '../components/status.tsx';
import { Time } from '../components/values.tsx';
import { phrase, t, titleOf } from '../i18n/words.ts';

/** Sessions with buttons to end them; `isOwn`: they belong to the signed-in user. */
export function Sessions({ user, isOwn }: { readonly user: string; readonly isOwn: boolean }): JSX.Element {
  const query = `user_uuid=${user}`;
  const { value: page } = usePage(`/api/sessions/?${query}&page_size=1`);
  return (
    <Listing
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
              title={t('End it')}
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

/** Names of programs by user agent. The first match counts, because most browsers also list the names of others. */
const browsers: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Edge', /Edg\w*\//],
  ['Opera', /OPR\//],
  ['Firefox', /(Firefox|FxiOS)\//],
  ['Chrome', /(Chrom(e|ium)|CriOS)\//],
  ['Safari', /Safari\//],
];
const systems: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Windows', /Windows/],
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['macOS', /Mac OS X/],
  ['Linux', /Linux/],
];

/** Returns the name of the program of a session. */
function programOf(session: Item): string {
  const agent = textOf(session, 'user_agent');
  const find = (known: typeof browsers): string => known.find(([, mark]) => mark.test(agent))?.[0] ?? '';
  const [browser, system] = [find(browsers), find(systems)];
  if (browser !== '' && system !== '') return t('{program} on {system}', { program: browser, system });
  if (agent !== '') return browser || (agent.split(/[ (]/)[0] ?? agent);
  return textOf(session, 'method') === 'operator' ? t('Token of the operator') : t('Unknown program');
}
