/** What is wrong, by how bad it is, with what can be done about it. */
import type { JSX } from 'preact';
import { type Item, pathOf, textOf } from '../api/api.ts';
import { useAnswer } from '../api/reading.ts';
import { hrefOf, place } from '../api/route.ts';
import { collections, isStaff } from '../api/session.ts';
import { Creation } from '../components/creation.tsx';
import { Filters, Listed } from '../components/list.tsx';
import { PostButton } from '../components/post.tsx';
import { nameOf } from '../components/shown.tsx';
import { numberText, t, titleOf } from '../i18n/words.ts';

const severities = ['Error', 'Warning', 'Info', 'Debug'];

export function AlertsPage(): JSX.Element {
  const path = '/alerts/';
  const { query } = place.value;
  const collection = collections.value.get('alerts');
  const others = new URLSearchParams(query);
  for (const name of ['severity', 'page', 'o']) others.delete(name);
  const { value: counted } = useAnswer<Item>('GET', `/api/alerts/stats/?${others}`);
  const counts = counted?.isOk ? counted.body : {};
  const state = query.has('opened') ? 'opened' : query.has('closed') ? 'closed' : '';
  return (
    <>
      <header class="page">
        <h1 tabIndex={-1}>{titleOf('alerts')}</h1>
        {collection && <Creation collection={collection} />}
      </header>
      <nav aria-label={t('Views')} class="lists">
        {[['', t('All')] as const, ['opened', t('Open ones')] as const, ['closed', t('Closed ones')] as const].map(
          ([name, title]) => (
            <a
              key={name}
              href={hrefOf(path, name === '' ? {} : { [name]: 'true' })}
              aria-current={state === name ? 'true' : undefined}
            >
              {title}
            </a>
          ),
        )}
        {severities.map((severity) => {
          const to = new URLSearchParams(others);
          const isHere = query.get('severity') === severity;
          if (!isHere) to.set('severity', severity);
          return (
            <a key={severity} href={hrefOf(path, to)} aria-current={isHere ? 'true' : undefined}>
              {t(severity)} ({numberText(Number(counts[severity.toLowerCase()] ?? 0))})
            </a>
          );
        })}
      </nav>
      {collection && (
        <Filters key={path} path={path} filters={collection.filters} elsewhere={['severity', 'opened', 'closed']} />
      )}
      <Listed
        path={path}
        orderings={collection?.orderings ?? []}
        margin={{ title: t('Actions'), isFirst: false, cell: (alert) => <Answers alert={alert} /> }}
      />
    </>
  );
}

/** Whoever sees an alert may say that they know of it; closing it is for staff (events.md 3.3). */
function Answers({ alert }: { readonly alert: Item }): JSX.Element {
  const own = pathOf(textOf(alert, 'url'));
  const action = alert.acknowledged === true ? 'cancel_acknowledgment' : 'acknowledge';
  return (
    <span class="row">
      <PostButton
        title={titleOf(action)}
        path={`${own}${action}/`}
        about={nameOf(alert)}
        expected={{ path: own, change: { acknowledged: alert.acknowledged !== true } }}
      />
      {isStaff.value && textOf(alert, 'closed') === '' && (
        <PostButton
          title={titleOf('close')}
          path={`${own}close/`}
          about={nameOf(alert)}
          expected={{ path: own, change: { closed: new Date().toISOString() } }}
        />
      )}
    </span>
  );
}
