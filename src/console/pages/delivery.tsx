/** A delivery to a webhook: request, response, and a button to send it again. */
import type { JSX } from 'preact';
import { type Item, isItem, problemOf, textOf } from '../api/api.ts';
import { useObject, useRequest } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { Callout, Card, Fact, Facts, Loading } from '../components/card.tsx';
import { type Description, permittedMethods } from '../components/creation.tsx';
import { type Crumb, PageHeader } from '../components/page.tsx';
import { PostButton } from '../components/post.tsx';
import { WordBadge } from '../components/status.tsx';
import { Details } from '../components/values.tsx';
import { choiceText } from '../format/choices.ts';
import { durationText } from '../format/text.ts';
import { serverText, t, titleOf } from '../i18n/words.ts';

/** Whether the user may change the hook at this path, and so redeliver. */
export function useIsManaged(hook: string): boolean {
  const { value: options } = useRequest<Description>('OPTIONS', hook);
  return options?.isOk === true && permittedMethods(options.headers)?.includes('PATCH') === true;
}

export function DeliveryPage({ hook, uuid }: { readonly hook: string; readonly uuid: string }): JSX.Element {
  const own = `/hooks-web/${hook}/`;
  const path = `/api${own}deliveries/${uuid}/`;
  const { value: result, reload } = useObject(path);
  const isManaged = useIsManaged(`/api${own}`);
  if (!result) return <Loading />;
  const { body: delivery, isOk } = result;
  const crumbs: readonly Crumb[] = [
    [hrefOf('/hooks/'), titleOf('hooks')],
    [hrefOf(own), titleOf('hook')],
    [hrefOf(`${own}deliveries/`), titleOf('deliveries')],
  ];
  if (!isOk)
    return (
      <>
        <PageHeader crumbs={crumbs} title={t('Not found')} />
        <Callout tone="bad" isNew>
          {problemOf(delivery)}
        </Callout>
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
        actions={
          isManaged &&
          status !== 'pending' && (
            <PostButton title={t('Redeliver')} path={`${path}redeliver/`} about={title} done={reload} />
          )
        }
      />
      {textOf(delivery, 'error_message') !== '' && (
        <Callout tone="bad">{serverText(textOf(delivery, 'error_message'))}</Callout>
      )}
      <Card
        title={t('Request')}
        empty={isItem(request) ? undefined : t('The event has been deleted: nothing can be sent.')}
      >
        {isItem(request) && (
          <Message start={`${textOf(request, 'method')} ${textOf(request, 'url')}`} message={request} />
        )}
      </Card>
      <Card title={t('Response')} empty={isItem(response) ? undefined : t('The last attempt got no response.')}>
        {isItem(response) && (
          <Message
            start={t('{status} after {duration}', {
              status: String(response.status),
              duration: durationText(Number(response.duration) / 1000),
            })}
            message={response}
          />
        )}
      </Card>
      <Card title={t('Details')}>
        <Details item={delivery} hidden={['error_message', 'request', 'response']} />
      </Card>
    </>
  );
}

/** An HTTP message: the start line, the headers, and the body, with JSON formatted. */
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
      {body !== '' && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrollable element
        <pre class="code" tabIndex={0}>
          {formatJson(body)}
        </pre>
      )}
    </>
  );
}

/** Formats a text that is JSON; other text stays unchanged. */
function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
