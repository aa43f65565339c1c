/** An event beside the list: its objects, its actor, and earlier events about the same object. */
import type { JSX } from 'preact';
import { firstText, type Item, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { Fact, Facts, Skeleton } from '../components/card.tsx';
import { Code, CopyButton, Source } from '../components/copy.tsx';
import { Drawer } from '../components/drawer.tsx';
import { Icon } from '../components/icons.tsx';
import { PostButton } from '../components/post.tsx';
import { WordBadge } from '../components/status.tsx';
import { Timeline } from '../components/timeline.tsx';
import { Sentence, Time } from '../components/values.tsx';
import { markOf } from '../format/events.ts';
import { listOfType } from '../format/kinds.ts';
import { changesOf } from '../format/sentences.ts';
import { choiceText } from '../format/text.ts';
import { inLocale, serverText, t, titleOf } from '../i18n/words.ts';
import { canManageResources } from './attention.tsx';

/** The objects of an event: title, uuid member, list, and name members. */
const objects: readonly (readonly [title: string, uuid: string, list: string, ...names: string[]])[] = [
  ['user', 'user_uuid', 'users', 'user_full_name', 'user_username'],
  ['customer', 'customer_uuid', 'customers', 'customer_name'],
  ['project', 'project_uuid', 'projects', 'project_name'],
  ['service', 'settings_uuid', 'service-settings', 'service_name', 'settings_name'],
];

/** Returns the path of an event's resource, if it has one. */
function resourcePath(event: Item): string | undefined {
  const list = listOfType(textOf(event, 'resource_type'));
  return list === undefined || textOf(event, 'event_type') === 'resource_deletion_succeeded'
    ? undefined
    : `/${list}/${textOf(event, 'resource_uuid')}/`;
}

export function EventDrawer({
  event,
  onClose,
  onMove,
}: {
  readonly event: Item;
  readonly onClose: () => void;
  readonly onMove: (steps: 1 | -1) => void;
}): JSX.Element {
  const { icon, tone } = markOf(event);
  const type = textOf(event, 'event_type');
  const isFailed = tone === 'bad';
  const resource = resourcePath(event);
  const changes = changesOf(event);
  const problem = textOf(event, 'error_message');
  return (
    <Drawer
      key="drawer"
      title={choiceText(type)}
      mark={
        <span class={`kind ${tone ?? ''}`}>
          <Icon name={icon} />
        </span>
      }
      actions={<CopyButton text={location.href} what={t('Link')} />}
      onClose={onClose}
      onMove={onMove}
    >
      <div class="in stack">
        <p class="small">
          <Sentence item={event} />
          {changes !== '' && <span class="sub">{changes}</span>}
          {problem !== '' && <span class="sub bad-ink">{serverText(problem)}</span>}
        </p>
        {resource !== undefined && (
          <div class="row">
            {isFailed && canManageResources() && (
              // A refresh restores the actual state.
              <PostButton title={t('Refresh')} path={`/api${resource}pull/`} about={textOf(event, 'resource_name')} />
            )}
            <a class="btn sm" href={hrefOf(resource)}>
              {t('Open resource')}
            </a>
          </div>
        )}
        <Facts>
          <Fact label={titleOf('@timestamp')}>
            <Time value={textOf(event, '@timestamp')} /> ·{' '}
            {inLocale((locale) => new Date(textOf(event, '@timestamp')).toLocaleTimeString(locale))}
          </Fact>
          {objects.map(([title, uuid, list, ...names]) => {
            const name = firstText(event, ...names);
            return (
              name !== '' && (
                <Fact key={title} label={titleOf(title)}>
                  <a href={hrefOf(`/${list}/${textOf(event, uuid)}/`)}>{name}</a>
                </Fact>
              )
            );
          })}
          <Fact label={titleOf('level')}>
            <WordBadge word={textOf(event, 'level')} />
          </Fact>
          <Fact label={titleOf('event_type')}>
            <Code text={type} what={titleOf('event_type')} />
          </Fact>
          {textOf(event, 'ip_address') !== '' && (
            <Fact label={titleOf('ip_address')}>
              <Code text={textOf(event, 'ip_address')} what={titleOf('ip_address')} />
            </Fact>
          )}
        </Facts>
        <Related event={event} />
      </div>
      <details class="fold">
        <summary>
          <Icon name="next" size="sm" /> {t('Raw event')}
        </summary>
        <Source text={JSON.stringify(event, undefined, 2)} />
      </details>
    </Drawer>
  );
}

/** Returns the query for events about the same resource, project, customer or user. */
function relatedQuery(event: Item): string | undefined {
  if (textOf(event, 'resource_uuid') !== '') return `resource_uuid=${textOf(event, 'resource_uuid')}`;
  const [list, uuid] =
    [
      ['projects', textOf(event, 'project_uuid')],
      ['customers', textOf(event, 'customer_uuid')],
      ['users', textOf(event, 'affected_user_uuid') || textOf(event, 'user_uuid')],
    ].find(([, key]) => key !== '') ?? [];
  return list === undefined ? undefined : new URLSearchParams({ scope: `/api/${list}/${uuid}/` }).toString();
}

/** Earlier events about the same object. */
function Related({ event }: { readonly event: Item }): JSX.Element | null {
  const query = relatedQuery(event);
  const until = Math.floor(Date.parse(textOf(event, '@timestamp')) / 1000) + 1;
  const { value: page } = usePage(query === undefined ? '' : `/api/events/?${query}&to=${until}&page_size=6`);
  const others = (page?.items ?? []).filter((item) => textOf(item, 'uuid') !== textOf(event, 'uuid')).slice(0, 5);
  if (!page) return <Skeleton />;
  if (others.length === 0) return null;
  return (
    <div>
      <h3>{t('Related events')}</h3>
      <Timeline
        isFlat
        entries={others.map((item) => ({
          key: textOf(item, 'uuid'),
          ...markOf(item),
          title: <Sentence item={item} isPlain />,
          time: textOf(item, '@timestamp'),
        }))}
      />
    </div>
  );
}
