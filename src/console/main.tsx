// Must precede the chart library, which creates a formatter for the browser's language when it loads.
import './i18n/browser-languages.ts';
import { type JSX, render } from 'preact';
import { useErrorBoundary, useLayoutEffect } from 'preact/hooks';
import { token } from './api/connection.ts';
import { place, replace } from './api/route.ts';
import {
  collections,
  endSession,
  enterSession,
  isForeignLogin,
  isReady,
  mustEnrol,
  resumeLogin,
  start,
  startProblem,
  takeDeparture,
} from './api/session.ts';
import { Retry } from './components/button.tsx';
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
import { SignInPage } from './pages/signin.tsx';
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
      {t('There is nothing at this address. Check the address or search by name.')}
    </Empty>
  );
}

/** Shown instead of a login that this tab has not started. Its button leads to the sign-in or the session of this tab. */
function ForeignLogin(): JSX.Element {
  return (
    <main class="door">
      <div class="panel">
        <h1>{t('This sign-in was not started in this tab')}</h1>
        <p>{t('A link can sign you in as another user, who then sees what you enter. You were not signed in.')}</p>
        <button
          type="button"
          class="btn primary full"
          onClick={() => {
            isForeignLogin.value = false;
          }}
        >
          {token.value === null ? t('Sign in') : t('Continue')}
        </button>
      </div>
    </main>
  );
}

function App(): JSX.Element {
  if (isForeignLogin.value) return <ForeignLogin />;
  if (token.value === null || place.value.path.startsWith('/first/')) return <SignInPage />;
  if (startProblem.value !== '')
    return (
      <main class="door">
        <Callout tone="bad" isNew action={<Retry onClick={() => void start()} />}>
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

// A login at an identity provider ends here if login_completed_url is `…/#/signed-in/{token}/{method}?next={next}`, and
// login_second_factor_url is `…/#/second-factor/{token}?next={next}`.
const [, page, secret, method] = place.value.path.split('/');
// Every opening of the page ends the absence, so that a login that failed or was abandoned does not admit a link later.
const provider = takeDeparture();
const isReturn = (page === 'signed-in' || page === 'second-factor') && secret;
if (isReturn) returnFromLogin();
if (isReturn && provider !== undefined) {
  if (page === 'signed-in') void enterSession(secret, method === 'oidc' ? provider : undefined);
  else void resumeLogin(secret, provider);
} else {
  if (isReturn) {
    isForeignLogin.value = true;
    if (page === 'signed-in') void endSession(secret);
  }
  if (token.value !== null) void start();
}

const root = document.getElementById('console');
// Load the language first, so that the first page is translated.
if (root) void loadLanguage().then(() => render(<App />, root));
