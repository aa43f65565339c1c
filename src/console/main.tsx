// Must precede the chart library, which creates a formatter for the browser's language when it loads.
import './i18n/browser-languages.ts';
import { type JSX, render } from 'preact';
import { useErrorBoundary, useLayoutEffect } from 'preact/hooks';
import { token } from './api/connection.ts';
import { place, replace } from './api/route.ts';
import { collections, departure, enter, isReady, mustEnrol, resumeLogin, start, startProblem } from './api/session.ts';
import { Callout, Empty } from './components/card.tsx';
import { expectHeading } from './components/focus.ts';
import { ListPage } from './components/list.tsx';
import { loadLanguage, t, titleOf } from './i18n/words.ts';
import { ownValue } from './item.ts';
import { Enrolment } from './pages/enrolment.tsx';
import { EventsPage } from './pages/events.tsx';
import { Explorer } from './pages/explorer.tsx';
import { Home } from './pages/home.tsx';
import { Acceptance } from './pages/invitation.tsx';
import { ObjectPage } from './pages/object.tsx';
import { pages } from './pages/pages.tsx';
import { recipeOf } from './pages/recipes.tsx';
import { Entrance } from './pages/signin.tsx';
import { Shell } from './shell/shell.tsx';
import './shell/appearance.ts';

/** The page of the current address. */
function Page(): JSX.Element {
  const { path } = place.value;
  const [, list = '', key = '', below = '', part = ''] = path.split('/');
  const collection = collections.value.get(list);
  useLayoutEffect(() => {
    // Move the focus to the heading of the page.
    expectHeading();
  }, [path, list, below]);
  if (path === '/') return <Home />;
  if (path === '/all/') return <Explorer />;
  if (path === '/events/') return <EventsPage collection={collection} />;
  const own = ownValue(pages, key === '' || !collection ? list : `${list}/${below}${part && '/'}`);
  if (own) return own(key, part);
  if (list === 'invitation' && key !== '') return <Acceptance secret={key} />;
  if (!collection) return <NotFound />;
  if (key === '') return <ListPage path={path} title={collection.title} collection={collection} />;
  if (part !== '') return <NotFound />;
  if (below !== '')
    return (
      <ListPage
        path={path}
        title={titleOf(below)}
        crumbs={[[`#/${list}/${key}/`, collection.title]]}
        collection={undefined}
      />
    );
  return <ObjectPage key={path} path={path} collection={collection} recipe={recipeOf(collection)} />;
}

/** Shows a page or its failure. The sidebar keeps working, so that the user can open another page. */
function GuardedPage(): JSX.Element {
  const { path, query } = place.value;
  const [error, reset] = useErrorBoundary((thrown) => console.error(thrown));
  const address = `${path}?${query}`;
  useLayoutEffect(reset, [address]);
  if (error === undefined) return <Page />;
  return (
    <Empty
      icon="problem"
      title={<h1 tabIndex={-1}>{t('This page cannot be shown')}</h1>}
      actions={
        <a class="btn" href="#/">
          {t('Home')}
        </a>
      }
    />
  );
}

function NotFound(): JSX.Element {
  return (
    <Empty
      icon="search"
      title={<h1 tabIndex={-1}>{t('Page not found')}</h1>}
      actions={
        <a class="btn" href="#/">
          {t('Home')}
        </a>
      }
    >
      {t('Nothing has this address. Check it, or search for a name.')}
    </Empty>
  );
}

function App(): JSX.Element {
  if (token.value === null || place.value.path.startsWith('/first/')) return <Entrance />;
  if (startProblem.value !== '')
    return (
      <main class="door">
        <Callout
          tone="bad"
          isNew
          action={
            <button type="button" class="btn" onClick={() => void start()}>
              {t('Try again')}
            </button>
          }
        >
          {startProblem.value}
        </Callout>
      </main>
    );
  if (!isReady.value)
    return (
      <main class="door" aria-busy="true">
        <span class="unseen">{t('Loading…')}</span>
      </main>
    );
  if (mustEnrol.value) return <Enrolment />;
  return (
    <Shell>
      <GuardedPage />
    </Shell>
  );
}

/** Replaces a login page by its return address. */
function returnFromLogin(): void {
  const [path = '/', query] = (place.value.query.get('next') || '/').split(/\?(.*)/s);
  replace(path, new URLSearchParams(query));
}

// A login at an identity provider ends here if login_completed_url is `…/#/signed-in/{token}/{method}?next={next}`.
const [, page, given, method] = place.value.path.split('/');
if (page === 'signed-in' && given) {
  returnFromLogin();
  void enter(given, method === 'oidc' ? departure() : undefined);
} else if (page === 'second-factor' && given) {
  // Likewise, login_second_factor_url is `…/#/second-factor/{token}?next={next}`.
  void resumeLogin(given).then(returnFromLogin);
} else if (token.value !== null) void start();

const root = document.getElementById('console');
// Load the language first, so that the first page is translated.
if (root) void loadLanguage().then(() => render(<App />, root));
