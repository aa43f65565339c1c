/** Hooks of every kind, and their deliveries. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, pathOf, problemOf, readPage, request, textOf } from '../api/api.ts';
import { listOf } from '../api/columns.ts';
import type { Collection } from '../api/document.ts';
import { optimistically } from '../api/optimistic.ts';
import { refresh, usePage, useReading, useRequest } from '../api/reading.ts';
import { go, hrefOfLink, place } from '../api/route.ts';
import { collections, isStaff, me } from '../api/session.ts';
import { rowActions } from '../components/actions.tsx';
import { Callout, Card, Empty, Loading } from '../components/card.tsx';
import { Code } from '../components/copy.tsx';
import { CreationForm, type Description } from '../components/creation.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Icon } from '../components/icons.tsx';
import { List, pageSize } from '../components/list.tsx';
import { Menu } from '../components/menu.tsx';
import { Options } from '../components/options.tsx';
import { PageHeader } from '../components/page.tsx';
import { Badge, Dot, WordBadge, WordStatus } from '../components/status.tsx';
import { type Column, NameCell } from '../components/table.tsx';
import { notify } from '../components/toast.tsx';
import { nameOf, Time } from '../components/values.tsx';
import { choiceText, joinedText, percentText } from '../format/text.ts';
import { compareTexts, plural, serverText, t, titleOf } from '../i18n/words.ts';
import { deliveriesOf } from './delivery.tsx';
import { failedTypes } from './event-counts.tsx';

/** All hooks with their deliveries in the last 7 days, and a button to create one. */
export function HooksPage(): JSX.Element {
  // Page and filter the counts like the hooks.
  const query = new URLSearchParams({ ...Object.fromEntries(place.value.query), page_size: String(pageSize) });
  const { value: page } = usePage(`/api/hooks/stats/?${query}`);
  const counts = new Map((page?.items ?? []).map((item) => [textOf(item, 'url'), item]));
  const failures = useFailures(page?.items ?? []);
  return (
    <>
      <PageHeader
        title={titleOf('hooks')}
        lead={t('Send the events you can access to webhooks, email addresses and phones.')}
        actions={<NewNotification isPrimary />}
      />
      {failures.slice(0, maxCallouts).map((failure) => (
        <FailureCallout key={textOf(failure.hook, 'url')} {...failure} />
      ))}
      <List
        path="/hooks/"
        collection={collections.value.get('hooks')}
        columns={() => columns(counts, failures)}
        // A search by email finds only one of the three kinds.
        hiddenFilters={['email']}
        empty={
          <Empty icon="hooks" title={t('No notifications yet.')}>
            {t('Notifications send events and alerts to a program, a mailbox or a phone.')}
          </Empty>
        }
        rowActions={rowActions}
      />
    </>
  );
}

const channels = (): readonly (readonly [list: string, title: string])[] => [
  ['hooks-web', t('Webhook')],
  ['hooks-email', t('Email')],
  ['hooks-push', t('Phone')],
];

/** A button that creates a hook. Its menu has the channels; `initialValues` are those of the form. */
export function NewNotification({
  title = t('New notification'),
  isPrimary = false,
  initialValues = {},
}: {
  readonly title?: string;
  readonly isPrimary?: boolean;
  readonly initialValues?: Item;
}): JSX.Element {
  const [list, setList] = useState('');
  const collection = collections.value.get(list);
  return (
    <>
      <Menu
        label={title}
        hasText
        class={isPrimary ? 'btn primary' : 'btn'}
        items={channels().map(([name, title]) => ({
          title,
          icon: name,
          opensDialog: true,
          onSelect: () => setList(name),
        }))}
      >
        <Icon name={isPrimary ? 'create' : 'hooks'} />
        {title}
      </Menu>
      {collection && (
        <CreationDialog collection={collection} initialValues={initialValues} onClose={() => setList('')} />
      )}
    </>
  );
}

/** Choices of events for a new hook: presets, or custom types and groups. */
const presets = () => [
  {
    value: 'failures',
    title: t('Failures only'),
    sub: plural(failedTypes.length, '{count} event type', '{count} event types'),
    fixed: { event_types: failedTypes, event_groups: [] },
  },
  {
    value: 'resources',
    title: t('All resource events'),
    sub: t('Created, changed, started, stopped, deleted'),
    fixed: { event_types: [], event_groups: ['resources'] },
  },
  {
    value: 'all',
    title: t('All events'),
    sub: t('Also those about customers, projects, people and SSH keys'),
    fixed: { event_types: [], event_groups: ['customers', 'projects', 'resources', 'ssh', 'users'] },
  },
  { value: 'custom', title: t('Custom'), sub: t('By group or by type'), fixed: undefined },
];

function CreationDialog({
  collection,
  initialValues,
  onClose,
}: {
  readonly collection: Collection;
  readonly initialValues: Item;
  readonly onClose: () => void;
}): JSX.Element {
  const { value: response } = useRequest<Description>('OPTIONS', `/api/${collection.name}/`);
  const [chosen, setChosen] = useState(initialValues.event_groups === undefined ? 'failures' : 'custom');
  const preset = presets().find(({ value }) => value === chosen);
  return (
    <Dialog title={t('New notification')} onClose={onClose}>
      {response && (
        <Options label={titleOf('event_types')} options={presets()} value={chosen} isWide onInput={setChosen} />
      )}
      {response ? (
        <CreationForm
          collection={collection}
          initialValues={initialValues}
          {...(preset?.fixed && { fixed: preset.fixed })}
          post={response.isOk ? response.body.actions?.POST : undefined}
          // Before the many types.
          adapt={(fields) =>
            [...fields].sort((a, b) => Number(b.name === 'event_groups') - Number(a.name === 'event_groups'))
          }
          onCancel={onClose}
          onMade={async (hook) => go(hrefOfLink(textOf(hook, 'url')).slice(1))}
        />
      ) : (
        <Loading />
      )}
    </Dialog>
  );
}

/** Maximum number of callouts. More would push the list of hooks down. */
const maxCallouts = 3;

/** A webhook with recent failures. */
interface Failure {
  readonly hook: Item;
  /** Number of pending deliveries. */
  readonly pending: number;
  /** The error message of the newest failed attempt. */
  readonly problem: string;
}

/** Reads why active webhooks fail: the errors of attempts since the last successful delivery. */
function useFailures(counts: readonly Item[]): readonly Failure[] {
  const suspects = counts.filter(
    (item) => listOf(item) === 'hooks-web' && Number(item.pending) + Number(item.failed) > 0,
  );
  const { value } = useReading(
    JSON.stringify(suspects),
    async () => (await Promise.all(suspects.map(failureOf))).filter((failure) => failure !== undefined),
    { isSame: (one, other) => JSON.stringify(one) === JSON.stringify(other), isUsable: () => true },
  );
  return value ?? [];
}

/** Finds a delivery whose last attempt failed after an instant. Both are ISO 8601 in UTC, or empty, and compare as strings. */
const failedSince = (instant: string, deliveries: readonly Item[]): Item | undefined =>
  deliveries.find((delivery) => textOf(delivery, 'error_message') !== '' && textOf(delivery, 'last_attempt') > instant);

async function failureOf(counts: Item): Promise<Failure | undefined> {
  const path = pathOf(textOf(counts, 'url'));
  const { items } = await readPage(`${path}deliveries/?status=pending&status=failed&page_size=20`);
  const failed = failedSince(textOf(counts, 'last_delivered'), items);
  if (!failed) return undefined;
  const hook = await request<Item>('GET', path);
  if (!hook.isOk || hook.body.is_active !== true) return undefined;
  return { hook: hook.body, pending: Number(counts.pending), problem: textOf(failed, 'error_message') };
}

function FailureCallout({ hook, pending, problem }: Failure): JSX.Element {
  return (
    <Callout
      tone="bad"
      title={t('Deliveries to {name} are failing', { name: destinationOf(hook) })}
      action={
        <a class="btn sm" href={hrefOfLink(textOf(hook, 'url'))}>
          {t('View deliveries')}
        </a>
      }
    >
      {[
        serverText(problem),
        pending > 0 &&
          plural(
            pending,
            '{count} delivery is pending and will be retried.',
            '{count} deliveries are pending and will be retried.',
          ),
        t('The notification is disabled after 5 days without a successful delivery.'),
      ]
        .filter((text) => text !== false)
        .join(' ')}
    </Callout>
  );
}

/** Returns the host of a webhook, or the address or device of another hook. */
const destinationOf = (hook: Item): string => urlOf(hook)?.host ?? nameOf(hook);

const channelOf = (hook: Item): string | undefined => channels().find(([list]) => list === listOf(hook))?.[1];

function urlOf(hook: Item): URL | undefined {
  const text = textOf(hook, 'destination_url');
  return URL.canParse(text) ? new URL(text) : undefined;
}

const columns = (counts: ReadonlyMap<string, Item>, failures: readonly Failure[]): readonly Column[] => {
  const countsOf = (hook: Item): Item => counts.get(textOf(hook, 'url')) ?? {};
  return [
    {
      key: 'destination',
      title: t('Destination'),
      class: 'name',
      cell: (hook) => (
        <NameCell
          icon={listOf(hook)}
          href={hrefOfLink(textOf(hook, 'url'))}
          name={destinationOf(hook)}
          sub={joinedText([channelOf(hook), urlOf(hook)?.pathname])}
        />
      ),
    },
    { key: 'events', title: titleOf('event_types'), class: 'cut', cell: eventsText },
    {
      key: 'delivery',
      title: t('Last delivery'),
      class: 'state',
      cell: (hook) => (
        <LastDelivery
          hook={hook}
          counts={countsOf(hook)}
          isFailing={failures.some((failure) => textOf(failure.hook, 'url') === textOf(hook, 'url'))}
        />
      ),
    },
    {
      key: 'delivered',
      title: t('Delivered (7 days)'),
      class: 'num when-roomy',
      cell: (hook) => deliveredText(countsOf(hook)),
    },
    { key: 'on', title: titleOf('is_active'), cell: (hook) => <ActiveSwitch hook={hook} /> },
  ];
};

const namesIn = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** Returns the types of the events and notifications that a hook delivers, including those of its groups (events.md 5.1). */
const subscribedTypes = (hook: Item): readonly string[] => [
  ...namesIn(hook.event_types),
  ...namesIn(hook.notification_types),
];

/** The tab with everything that a hook delivers. */
export const subscribedTab = {
  name: 'events',
  get title(): string {
    return t('Subscribed events');
  },
  count: (hook: Item): number => subscribedTypes(hook).length,
  content: (hook: Item): JSX.Element => (
    <Card title={t('Subscribed events')} note={eventsText(hook)}>
      <ul class="columns">
        {subscribedTypes(hook)
          .map(choiceText)
          .sort(compareTexts)
          .map((title) => (
            <li key={title}>{title}</li>
          ))}
      </ul>
    </Card>
  ),
};

/** Describes what a hook delivers: its events, and the number of its notification types. */
function eventsText(hook: Item): string {
  const types = namesIn(hook.event_types);
  const count = namesIn(hook.notification_types).length;
  return joinedText([
    count > 0 && types.length === 0 ? '' : chosenText(namesIn(hook.event_groups), types),
    count > 0 ? plural(count, '{count} notification type', '{count} notification types') : '',
  ]);
}

/** Describes events: a preset, groups, or the number of types. */
function chosenText(groups: readonly string[], types: readonly string[]): string {
  const isSame = (some: readonly string[], others: readonly string[]): boolean =>
    some.length === others.length && some.every((name) => others.includes(name));
  const usual = presets().find(
    ({ fixed }) =>
      fixed &&
      (fixed.event_groups.length > 0
        ? isSame(groups, fixed.event_groups)
        : groups.length === 0 && isSame(types, fixed.event_types)),
  );
  if (usual) return usual.title;
  if (groups.length > 0) return groups.map(titleOf).join(', ');
  return plural(types.length, '{count} event type', '{count} event types');
}

function LastDelivery({
  hook,
  counts,
  isFailing,
}: {
  readonly hook: Item;
  readonly counts: Item;
  readonly isFailing: boolean;
}): JSX.Element {
  const last = textOf(counts, 'last_delivered');
  return (
    <>
      {hook.is_active !== true ? (
        <Dot tone="idle">{t('Disabled')}</Dot>
      ) : hook.is_confirmed === false ? (
        <Dot tone="warn">{t('Not confirmed')}</Dot>
      ) : (
        <DeliveryStatus counts={counts} isFailing={isFailing} />
      )}
      <small class="gone">{last === '' ? t('Nothing delivered in 7 days') : <Time value={last} />}</small>
    </>
  );
}

function DeliveryStatus({ counts, isFailing }: { readonly counts: Item; readonly isFailing: boolean }): JSX.Element {
  const word = isFailing
    ? 'failing'
    : ['delivered', 'failed', 'pending'].find((status) => Number(counts[status] ?? 0) > 0);
  return word === undefined ? <Dot tone="idle">{t('Ready')}</Dot> : <WordStatus word={word} />;
}

/** Formats the success rate of finished deliveries. */
function deliveredText(counts: Item): string {
  const [delivered = 0, failed = 0, canceled = 0] = ['delivered', 'failed', 'canceled'].map((name) =>
    Number(counts[name] ?? 0),
  );
  const finished = delivered + failed + canceled;
  return finished === 0 ? '–' : percentText(delivered / finished, 1);
}

/** Enables and disables a hook, for its owner and staff (events.md 5.1). */
function ActiveSwitch({ hook }: { readonly hook: Item }): JSX.Element | null {
  const isActive = hook.is_active === true;
  if (!isStaff.value && textOf(hook, 'author_uuid') !== textOf(me.value ?? {}, 'uuid')) return null;
  return (
    // The label enlarges the touch target.
    <label class="check">
      <input
        type="checkbox"
        role="switch"
        class="switch"
        aria-checked={isActive}
        aria-label={t('Enable {name}', { name: nameOf(hook) })}
        checked={isActive}
        onInput={async () => {
          const path = pathOf(textOf(hook, 'url'));
          const change = { is_active: !isActive };
          const response = await optimistically(path, change, () => request<Item>('PATCH', path, { body: change }));
          if (!response.isOk) notify(problemOf(response.body), { tone: 'bad' });
          refresh();
        }}
      />
    </label>
  );
}

/** The state of a notification in its header. */
export function HookBadge({ hook }: { readonly hook: Item }): JSX.Element {
  const isActive = hook.is_active === true;
  const hasDeliveries = isActive && listOf(hook) === 'hooks-web';
  // The same request as that of the page: the two share a response.
  const { value: page } = usePage(hasDeliveries ? deliveriesOf(hook) : '');
  const deliveries = page?.items ?? [];
  const last = deliveries
    .map((delivery) => textOf(delivery, 'delivered'))
    .sort()
    .at(-1);
  if (isActive && failedSince(last ?? '', deliveries)) return <WordBadge word="failing" />;
  return (
    <Badge tone={isActive ? (hook.is_confirmed === false ? 'warn' : 'good') : 'idle'}>
      {!isActive ? t('Disabled') : hook.is_confirmed === false ? t('Not confirmed') : titleOf('is_active')}
    </Badge>
  );
}

/** Channel, endpoint and events of a notification. */
export function HookFacts({ hook }: { readonly hook: Item }): JSX.Element {
  const endpoint = textOf(hook, 'destination_url');
  return (
    <>
      <span>{channelOf(hook)}</span>
      {endpoint !== '' && <Code text={endpoint} what={titleOf('destination_url')} />}
      <span>{eventsText(hook)}</span>
    </>
  );
}
