/** Alerts: the open ones by severity, each with its actions. */
import type { JSX } from 'preact';
import { type Item, pathOf, textOf } from '../api/api.ts';
import { useRequest } from '../api/reading.ts';
import { hrefOf, hrefOfLink, place } from '../api/route.ts';
import { collections, isStaff } from '../api/session.ts';
import { Empty } from '../components/card.tsx';
import { fieldColumn, timeColumn } from '../components/columns.tsx';
import { Creation } from '../components/creation.tsx';
import { List } from '../components/list.tsx';
import { PageHeader, Tabs } from '../components/page.tsx';
import { PostButton } from '../components/post.tsx';
import { Sentence } from '../components/sentence.tsx';
import { type Column, NameCell } from '../components/table.tsx';
import { nameOf } from '../components/values.tsx';
import { choiceText } from '../format/choices.ts';
import { fixOf } from '../format/sentences.ts';
import { actionTitle, t, titleOf } from '../i18n/words.ts';

const severities = ['Error', 'Warning', 'Info', 'Debug'];

export function AlertsPage(): JSX.Element {
  const path = '/alerts/';
  const { query } = place.value;
  const collection = collections.value.get('alerts');
  const others = new URLSearchParams(query);
  for (const name of ['severity', 'page', 'o']) others.delete(name);
  const { value: counted } = useRequest<Item>('GET', `/api/alerts/stats/?${others}`);
  const counts = counted?.isOk ? counted.body : {};
  const state = query.has('opened') ? 'opened' : query.has('closed') ? 'closed' : '';
  const states = [['opened', t('Open')] as const, ['closed', t('Closed')] as const, ['', t('All')] as const];
  return (
    <>
      <PageHeader title={titleOf('alerts')} actions={collection && <Creation collection={collection} />} />
      <Tabs
        label={t('Views')}
        tabs={[
          ...states.map(([name, title]) => ({
            href: hrefOf(path, name === '' ? {} : { [name]: 'true' }),
            title,
            isCurrent: state === name && !query.has('severity'),
          })),
          ...severities.map((severity) => {
            const to = new URLSearchParams(others);
            const isCurrent = query.get('severity') === severity;
            if (!isCurrent) to.set('severity', severity);
            return {
              href: hrefOf(path, to),
              title: t(severity),
              count: Number(counts[severity.toLowerCase()] ?? 0),
              isCurrent,
            };
          }),
        ]}
      />
      <List
        path={path}
        collection={collection}
        hiddenFilters={['severity', 'opened', 'closed', 'aggregate', 'uuid']}
        columns={columns}
        rowActions={(alert) => <AlertActions alert={alert} />}
        empty={<Empty icon="good" title={t('No alert is open.')} />}
      />
    </>
  );
}

const columns = (): readonly Column[] => [
  {
    key: 'message',
    title: titleOf('message'),
    class: 'name',
    cell: (alert) => (
      <NameCell
        href={hrefOfLink(textOf(alert, 'url'))}
        name={<Sentence item={alert} isPlain />}
        sub={choiceText(textOf(alert, 'alert_type'))}
      />
    ),
  },
  fieldColumn('severity', 'severity'),
  timeColumn('created', 'created'),
  timeColumn('closed', 'closed'),
  { ...fieldColumn('acknowledged'), class: 'when-roomy gone' },
];

/** Anyone who sees an alert may acknowledge it; staff close it (events.md 3.3). */
function AlertActions({ alert }: { readonly alert: Item }): JSX.Element {
  const own = pathOf(textOf(alert, 'url'));
  const fix = textOf(alert, 'closed') === '' ? fixOf(alert) : undefined;
  const action = alert.acknowledged === true ? 'cancel_acknowledgment' : 'acknowledge';
  return (
    <span class="row tight end">
      {fix && (
        <a class="btn sm" href={hrefOf(fix.path)} aria-label={`${fix.title}: ${nameOf(alert)}`}>
          {fix.title}
        </a>
      )}
      <PostButton
        title={actionTitle(action)}
        path={`${own}${action}/`}
        about={nameOf(alert)}
        expected={{ path: own, change: { acknowledged: alert.acknowledged !== true } }}
      />
      {isStaff.value && textOf(alert, 'closed') === '' && (
        <PostButton
          title={actionTitle('close')}
          path={`${own}close/`}
          about={nameOf(alert)}
          expected={{ path: own, change: { closed: new Date().toISOString() } }}
        />
      )}
    </span>
  );
}
