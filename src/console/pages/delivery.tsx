/** A webhook delivery: request, response, and a button to redeliver. */
import type { ComponentChildren, JSX } from 'preact';
import { type Item, isItem, type Page, pathOf, problemOf, textOf } from '../api/api.ts';
import { useLinked, useObject, useRequest } from '../api/reading.ts';
import { hrefOf, place } from '../api/route.ts';
import { Callout, Card, ErrorCallout, Fact, Facts, FieldFacts, Loading, Skeleton } from '../components/card.tsx';
import { fieldColumn, timeColumn } from '../components/columns.tsx';
import { CopyButton, Source } from '../components/copy.tsx';
import { type Description, permittedMethods } from '../components/creation.tsx';
import { Drawer } from '../components/drawer.tsx';
import { Icon } from '../components/icons.tsx';
import { type Crumb, PageHeader } from '../components/page.tsx';
import { PostButton } from '../components/post.tsx';
import { WordBadge } from '../components/status.tsx';
import { type Column, NameCell, Table } from '../components/table.tsx';
import { Details, nameOf, Time } from '../components/values.tsx';
import { choiceText, durationText } from '../format/text.ts';
import { phrase, serverText, t, titleOf } from '../i18n/words.ts';

/** Whether the user may change the hook at this path and therefore redeliver. */
function useCanRedeliver(hook: string): boolean {
  const { value: options } = useRequest<Description>('OPTIONS', hook);
  return options?.isOk === true && permittedMethods(options.headers)?.includes('PATCH') === true;
}

export function DeliveryPage({ hook, uuid }: { readonly hook: string; readonly uuid: string }): JSX.Element {
  const own = `/hooks-web/${hook}/`;
  const path = `/api${own}deliveries/${uuid}/`;
  const { value: result, reload } = useObject(path);
  const canRedeliver = useCanRedeliver(`/api${own}`);
  const destination = useLinked(`/api${own}`);
  if (!result) return <Loading />;
  const { body: delivery, isOk } = result;
  const crumbs: readonly Crumb[] = [
    [hrefOf('/hooks/'), titleOf('hooks')],
    [hrefOf(own), destination ? nameOf(destination) : titleOf('hook')],
    [hrefOf(`${own}deliveries/`), titleOf('deliveries')],
  ];
  if (!isOk)
    return (
      <>
        <PageHeader crumbs={crumbs} title={t('Not found')} />
        <ErrorCallout text={problemOf(delivery)} />
      </>
    );
  const title = choiceText(textOf(delivery, 'event_type'));
  const status = textOf(delivery, 'status');
  const { request, response } = delivery;
  return (
    <>
      <PageHeader
        crumbs={crumbs}
        title={title}
        badge={<WordBadge word={status} />}
        actions={canRedeliver && status !== 'pending' && <Redeliver path={path} about={title} done={reload} />}
      />
      {textOf(delivery, 'error_message') !== '' && (
        <Callout tone="bad">{serverText(textOf(delivery, 'error_message'))}</Callout>
      )}
      <Card
        title={t('Request')}
        empty={isItem(request) ? undefined : t('The event was deleted, so it cannot be sent.')}
      >
        {isItem(request) && <Message start={startLineOf(request)} message={request} />}
      </Card>
      <Card title={t('Response')} empty={isItem(response) ? undefined : t('The last attempt got no response.')}>
        {isItem(response) && <Message start={startLineOf(response)} message={response} />}
      </Card>
      <Card title={t('Details')}>
        <Details item={delivery} hidden={['error_message', 'request', 'response']} />
      </Card>
    </>
  );
}

/** Sends a delivery again. */
const Redeliver = ({
  path,
  ...rest
}: {
  readonly path: string;
  readonly about: string;
  readonly done?: () => Promise<void>;
}): JSX.Element => <PostButton title={t('Redeliver')} path={`${path}redeliver/`} {...rest} />;

/** A delivery beside the list: why it failed, its payload, then the messages in full. */
function DeliveryDrawer({
  hook,
  uuid,
  onClose,
  onMove,
}: {
  readonly hook: string;
  readonly uuid: string;
  readonly onClose: () => void;
  readonly onMove: (steps: 1 | -1) => void;
}): JSX.Element {
  const own = `/hooks-web/${hook}/`;
  const path = `/api${own}deliveries/${uuid}/`;
  const { value: result, reload } = useObject(path);
  const canRedeliver = useCanRedeliver(`/api${own}`);
  const delivery = result?.isOk ? result.body : undefined;
  const title = delivery ? choiceText(textOf(delivery, 'event_type')) : t('Delivery');
  return (
    <Drawer
      key="drawer"
      title={title}
      mark={delivery && <WordBadge word={textOf(delivery, 'status')} />}
      actions={<CopyButton text={location.href} what={t('Link')} />}
      onClose={onClose}
      onMove={onMove}
    >
      {delivery ? (
        <Messages delivery={delivery}>
          <div class="row">
            {canRedeliver && textOf(delivery, 'status') !== 'pending' && (
              <Redeliver path={path} about={title} done={reload} />
            )}
            <a class="btn sm" href={hrefOf(`${own}deliveries/${uuid}/`)}>
              {t('Open page')}
            </a>
          </div>
        </Messages>
      ) : result ? (
        <p class="in bad-ink">{problemOf(result.body)}</p>
      ) : (
        <Skeleton />
      )}
    </Drawer>
  );
}

function Messages({
  delivery,
  children,
}: {
  readonly delivery: Item;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { request, response } = delivery;
  const problem = textOf(delivery, 'error_message');
  const next = textOf(delivery, 'next_attempt');
  const payload = isItem(request) ? formatJson(textOf(request, 'body')) : '';
  return (
    <>
      <div class="in stack">
        {problem !== '' && (
          <Callout tone="bad" title={serverText(problem)}>
            {next !== '' && phrase('Next attempt {time}', { time: <Time value={next} /> })}
          </Callout>
        )}
        {children}
        <FieldFacts item={delivery} names={['attempts', 'created', 'last_attempt', 'delivered', 'response_code']} />
        {payload !== '' && (
          <div>
            <h3>
              {t('Payload')} <CopyButton text={payload} what={t('Payload')} />
            </h3>
            <Source text={payload} />
          </div>
        )}
      </div>
      {[
        [t('Request'), request],
        [t('Response'), response],
      ].map(
        ([title, message]) =>
          isItem(message) && (
            <details key={title} class="fold">
              <summary>
                <Icon name="next" size="sm" /> {title}
              </summary>
              <div class="in">
                <Message start={startLineOf(message)} message={message} />
              </div>
            </details>
          ),
      )}
    </>
  );
}

/** Returns the start line of a request or response. */
const startLineOf = (message: Item): string =>
  'url' in message
    ? `${textOf(message, 'method')} ${textOf(message, 'url')}`
    : t('{status} after {duration}', {
        status: String(message.status),
        duration: durationText(Number(message.duration) / 1000),
      });

/** An HTTP message: start line, headers and body, with formatted JSON. */
function Message({ start, message }: { readonly start: string; readonly message: Item }): JSX.Element {
  const { headers } = message;
  const body = textOf(message, 'body');
  return (
    <>
      <p class="text">{start}</p>
      <Facts>
        {Object.entries(isItem(headers) ? headers : {}).map(([name, value]) => (
          <Fact key={name} label={name}>
            {String(value)}
          </Fact>
        ))}
      </Facts>
      {body !== '' && <Source text={formatJson(body)} />}
    </>
  );
}

/** Formats JSON. Returns other text unchanged. */
function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

/** Returns the API path of a webhook's latest deliveries. */
export const deliveriesOf = (hook: Item): string => `${pathOf(textOf(hook, 'url'))}deliveries/?page_size=10`;

/** The latest deliveries of a webhook. */
export function Deliveries({
  hook,
  page,
}: {
  readonly hook: Item;
  /** Undefined until loaded. */
  readonly page: Page | undefined;
}): JSX.Element {
  const own = pathOf(textOf(hook, 'url'));
  const path = `${own}deliveries/`;
  const canRedeliver = useCanRedeliver(own);
  const uuid = place.value.query.get('delivery') ?? '';
  const shown = page?.items ?? [];
  const index = shown.findIndex((delivery) => textOf(delivery, 'uuid') === uuid);
  const show = (delivery: Item | undefined): string => hrefOfDelivery(hook, delivery);
  const card = (
    <Card
      title={t('Deliveries')}
      more={page && page.count > 0 ? hrefOf(path.slice('/api'.length)) : undefined}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('Nothing has been delivered yet. Send a test to check the receiver.') : undefined}
      isFlush
    >
      {hook.is_active === false && <p class="in bad-ink">{t('This notification is disabled.')}</p>}
      {page && page.count > 0 && (
        <Table
          items={page.items}
          columns={deliveryColumns(show)}
          hrefOfItem={show}
          openKey={shown[index] && textOf(shown[index], 'url')}
          actions={
            canRedeliver
              ? (delivery) =>
                  textOf(delivery, 'status') !== 'pending' && (
                    <Redeliver path={`${path}${textOf(delivery, 'uuid')}/`} about={textOf(delivery, 'event_type')} />
                  )
              : undefined
          }
        />
      )}
    </Card>
  );
  if (uuid === '') return card;
  return (
    <div class="with-drawer">
      {card}
      <DeliveryDrawer
        hook={textOf(hook, 'uuid')}
        uuid={uuid}
        onClose={() => {
          location.hash = show(undefined);
        }}
        onMove={(steps) => {
          const next = shown[index + steps];
          if (next) location.hash = show(next);
        }}
      />
    </div>
  );
}

/** Returns the address of a webhook, optionally with an open delivery. */
const hrefOfDelivery = (hook: Item, delivery: Item | undefined): string =>
  hrefOf(`/hooks-web/${textOf(hook, 'uuid')}/`, delivery && { delivery: textOf(delivery, 'uuid') });

const deliveryColumns = (hrefOfItem: (delivery: Item) => string): readonly Column[] => [
  {
    key: 'event',
    title: titleOf('event_type'),
    class: 'name',
    cell: (delivery) => (
      <NameCell
        href={hrefOfItem(delivery)}
        name={choiceText(textOf(delivery, 'event_type'))}
        sub={textOf(delivery, 'error_message')}
      />
    ),
  },
  fieldColumn('status'),
  fieldColumn('attempts'),
  { ...fieldColumn('response_code'), class: 'num when-roomy' },
  timeColumn('created'),
];
