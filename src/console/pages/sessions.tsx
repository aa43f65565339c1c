/** The sessions of a user: which programs are signed in, and how to end them. */
import type { JSX } from 'preact';
import { type Item, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { PostButton } from '../components/post.tsx';
import { State, Time } from '../components/shown.tsx';
import { phrase, t, titleOf } from '../i18n/words.ts';
import { Listing } from './home.tsx';

/** Sessions with buttons to end them; `isOwn`: they are those of who is signed in. */
export function Sessions({ user, isOwn }: { readonly user: string; readonly isOwn: boolean }): JSX.Element {
  const query = `user_uuid=${user}`;
  const { value: page } = usePage(`/api/sessions/?${query}&page_size=1`);
  return (
    <Listing
      title={titleOf('sessions')}
      path="/sessions/"
      query={query}
      empty={t('Nobody is signed in.')}
      lines={lines}
    >
      {isOwn && page && page.count > 1 && (
        <div class="buttons start">
          <PostButton title={t('End all others')} path="/api/sessions/end_others/" about={titleOf('sessions')} />
        </div>
      )}
    </Listing>
  );
}

const lines = (sessions: readonly Item[]): JSX.Element => (
  <ul class="lines">
    {sessions.map((session) => (
      <li key={textOf(session, 'url')}>
        <span title={textOf(session, 'user_agent')}>{programOf(session)}</span>
        <span class="none">
          {phrase('since {start}, last used {end}', {
            start: <Time value={textOf(session, 'created')} />,
            end: <Time value={textOf(session, 'last_use')} />,
          })}
        </span>
        {session.is_current === true ? (
          <State value={t('This session')} />
        ) : (
          <PostButton
            title={t('End it')}
            method="DELETE"
            path={`/api/sessions/${textOf(session, 'uuid')}/`}
            about={programOf(session)}
          />
        )}
      </li>
    ))}
  </ul>
);

/** By what programs are known: the first that fits, as most call themselves by the names of others, too. */
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

/** What people know the program of a session by. */
function programOf(session: Item): string {
  const agent = textOf(session, 'user_agent');
  const find = (known: typeof browsers): string => known.find(([, mark]) => mark.test(agent))?.[0] ?? '';
  const [browser, system] = [find(browsers), find(systems)];
  if (browser !== '' && system !== '') return t('{program} on {system}', { program: browser, system });
  if (agent !== '') return browser || (agent.split(/[ (]/)[0] ?? agent);
  return textOf(session, 'method') === 'operator' ? t('Token of the operator') : t('Unknown program');
}
