/** The user's notifications about failures, limits and expiries, and their mail preferences. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, problemOf, request, textOf } from '../api/api.ts';
import { usePage, useRequest } from '../api/reading.ts';
import { hrefOf, place } from '../api/route.ts';
import { Card, Empty } from '../components/card.tsx';
import { Icon } from '../components/icons.tsx';
import { PageHeader, Tabs } from '../components/page.tsx';
import { PostButton } from '../components/post.tsx';
import { Timeline } from '../components/timeline.tsx';
import { notify } from '../components/toast.tsx';
import { Sentence } from '../components/values.tsx';
import type { Tone } from '../format/status.ts';
import { joinedText } from '../format/text.ts';
import { numberText, plural, serverText, t, titleOf } from '../i18n/words.ts';

const path = '/notifications/';

/** The mark of a notification by its level. */
const marks: Readonly<Record<string, readonly [icon: string, tone: Tone]>> = {
  error: ['bad', 'bad'],
  warning: ['warn', 'warn'],
};

/** Context members with objects, and their lists. The first existing member determines the link of a notification. */
const objects: readonly (readonly [key: string, list: string])[] = [
  ['hook_uuid', 'hooks-web'],
  ['settings_uuid', 'service-settings'],
  ['project_uuid', 'projects'],
  ['customer_uuid', 'customers'],
];

function hrefOfObject(context: Item): string | undefined {
  const [key, list] = objects.find(([name]) => textOf(context, name) !== '') ?? [];
  return key === undefined ? undefined : hrefOf(`/${list}/${textOf(context, key)}/`);
}

export function InboxPage(): JSX.Element {
  const isUnread = place.value.query.has('unread');
  const { reload, value: page } = usePage(`/api/notifications/?page_size=50${isUnread ? '&unread=' : ''}`);
  const items = page?.items ?? [];
  return (
    <>
      <PageHeader
        title={t('For you')}
        lead={t('Failures, limits and expirations that affect you.')}
        actions={
          items.some((item) => item.read === null) && (
            <PostButton
              title={t('Mark all as read')}
              path="/api/notifications/read_all/"
              about={t('For you')}
              done={reload}
            />
          )
        }
      />
      <Tabs
        label={t('Views')}
        tabs={[
          { href: hrefOf(path), title: t('All'), isCurrent: !isUnread },
          { href: hrefOf(path, { unread: 'true' }), title: titleOf('unread'), isCurrent: isUnread },
        ]}
      />
      <div class="halves">
        <Card title={t('Notices')} isLoading={page === undefined} isFlush>
          {page && items.length === 0 ? (
            <Empty icon="good" title={t('Nothing needs your attention.')} />
          ) : (
            <Timeline entries={items.map(entryOf)} />
          )}
        </Card>
        <Preferences />
      </div>
    </>
  );
}

function entryOf(item: Item) {
  const [icon, tone] = marks[textOf(item, 'level')] ?? ['hooks', undefined];
  const context = (item.context ?? {}) as Item;
  const isNew = item.read === null;
  return {
    key: textOf(item, 'uuid'),
    icon,
    tone,
    title: isNew ? (
      <strong>
        <Sentence item={item} />
      </strong>
    ) : (
      <Sentence item={item} />
    ),
    sub: joinedText([titleOf(textOf(item, 'kind')), serverText(textOf(context, 'error_message'))]),
    time: textOf(item, 'created'),
    href: hrefOfObject(context),
  };
}

const preferenceTitle = (name: string): string =>
  ({ none: t('No mail'), immediate: t('At once'), daily: t('Once a day') })[name] ?? name;

/** When to send mails, by kind of notification. */
function Preferences(): JSX.Element {
  const { value: response } = useRequest<Record<string, string>>('GET', '/api/notification-preferences/');
  const [changed, setChanged] = useState<Readonly<Record<string, string>>>({});
  const stored = response?.isOk ? response.body : {};
  const choose = async (kind: string, preference: string): Promise<void> => {
    setChanged({ ...changed, [kind]: preference });
    const { body, isOk } = await request<Item>('PATCH', '/api/notification-preferences/', {
      body: { [kind]: preference },
    });
    notify(isOk ? t('Saved.') : problemOf(body), { tone: isOk ? 'good' : 'bad' });
    if (!isOk) setChanged({ ...changed, [kind]: stored[kind] ?? '' });
  };
  return (
    <Card title={t('Mails')} isLoading={response === undefined} isFlush>
      <ul class="lines">
        {Object.keys(stored).map((kind) => (
          <li key={kind}>
            <label class="words" for={`mail-${kind}`}>
              {titleOf(kind)}
            </label>
            <span class="end">
              <select
                id={`mail-${kind}`}
                class="select"
                value={changed[kind] ?? stored[kind] ?? ''}
                onChange={(event) => void choose(kind, event.currentTarget.value)}
              >
                {['none', 'daily', 'immediate'].map((preference) => (
                  <option key={preference} value={preference}>
                    {preferenceTitle(preference)}
                  </option>
                ))}
              </select>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The number of unread notifications, in the top bar. */
export function InboxButton(): JSX.Element {
  const { value: page } = usePage('/api/notifications/?unread=&page_size=1');
  const count = page?.count ?? 0;
  const words = count === 0 ? t('For you') : plural(count, '{count} unread notice', '{count} unread notices');
  return (
    <a
      class="btn quiet icon-only"
      href={hrefOf(path, count === 0 ? {} : { unread: 'true' })}
      aria-label={words}
      title={words}
    >
      <Icon name="hooks" />
      {count > 0 && (
        <span class="count warn" aria-hidden="true">
          {numberText(Math.min(count, 99))}
        </span>
      )}
    </a>
  );
}
