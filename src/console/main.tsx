// Before the chart library, which formats numbers by the language of the browser while it loads.
import './words/browser-languages.ts';
import type { JSX } from 'preact';
import { render } from 'preact';
import { useErrorBoundary, useLayoutEffect } from 'preact/hooks';
import { token } from './connection.ts';
import { forgetNotice } from './dialog.tsx';
import { EventsPage } from './events.tsx';
import { Everything } from './everything.tsx';
import { expectHeading } from './focus.ts';
import { Frame } from './frame.tsx';
import { Home } from './home.tsx';
import { Acceptance } from './invitation.tsx';
import { ListPage } from './list.tsx';
import { ObjectPage } from './object.tsx';
import { overviewOf } from './overviews.tsx';
import { ownValue } from './own.ts';
import { pages } from './pages.tsx';
import { place, replace } from './route.ts';
import { collections, enter, isReady, start, startProblem } from './session.ts';
import { Entrance } from './signin.tsx';
import { t, titleOf } from './words/words.ts';

/** The page of the present address. */
function Page(): JSX.Element {
  const { path } = place.value;
  const [, list = '', key = '', below = '', part = ''] = path.split('/');
  const collection = collections.value.get(list);
  useLayoutEffect(() => {
    forgetNotice();
    // Who listens, or goes on by the keyboard, begins at the page that was asked for.
    expectHeading();
  }, [path, list, below]);
  if (path === '/') return <Home />;
  if (path === '/all/') return <Everything />;
  if (path === '/events/') return <EventsPage collection={collection} />;
  const own = ownValue(pages, key === '' || !collection ? list : `${list}/${below}${part && '/'}`);
  if (own) return own(key, part);
  if (list === 'invitation' && key !== '') return <Acceptance secret={key} />;
  if (!collection) return <Nothing />;
  if (key === '') return <ListPage path={path} title={collection.title} collection={collection} />;
  if (part !== '') return <Nothing />;
  if (below !== '') return <ListPage path={path} title={titleOf(below)} collection={undefined} />;
  return (
    <ObjectPage
      key={path}
      path={path}
      collection={collection}
      overview={(item, reload) => overviewOf(list, item, reload)}
    />
  );
}

/** Shows a page, or that it failed: the frame around it keeps working, and another address opens another page. */
function GuardedPage(): JSX.Element {
  const { path, query } = place.value;
  const [error, reset] = useErrorBoundary((thrown) => console.error(thrown));
  const address = `${path}?${query}`;
  useLayoutEffect(reset, [address]);
  if (error === undefined) return <Page />;
  return (
    <>
      <h1 tabIndex={-1}>{t('This page cannot be shown')}</h1>
      <p>
        <a href="#/">{t('Home')}</a>
      </p>
    </>
  );
}

function Nothing(): JSX.Element {
  return (
    <>
      <h1 tabIndex={-1}>{t('No such page')}</h1>
      <p>
        <a href="#/">{t('Home')}</a>
      </p>
    </>
  );
}

function App(): JSX.Element {
  if (token.value === null || place.value.path.startsWith('/first/')) return <Entrance />;
  if (startProblem.value !== '')
    return (
      <main class="entrance">
        <p role="alert" class="problem">
          {startProblem.value}
        </p>
        <button type="button" onClick={() => void start()}>
          {t('Try again')}
        </button>
      </main>
    );
  if (!isReady.value)
    return (
      <main class="entrance">
        <p aria-busy="true">{t('Loading…')}</p>
      </main>
    );
  return (
    <Frame>
      <GuardedPage />
    </Frame>
  );
}

// Where a login at an identity provider ends, when login_completed_url is `…/#/signed-in/{token}/{method}`.
const [, page, given] = place.value.path.split('/');
if (page === 'signed-in' && given) {
  replace('/');
  void enter(given);
} else if (token.value !== null) void start();

const root = document.getElementById('console');
if (root) render(<App />, root);
