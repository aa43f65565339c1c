/** A delivery to a web hook: what is sent, what was answered, and how to have it sent again. */
import type { JSX } from 'preact';
import { type Item, isItem, problemOf, textOf } from '../api/api.ts';
import { choiceText } from '../api/fields.ts';
import { useAnswer, useObject } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { type Description, permittedMethods } from '../components/creation.tsx';
import { PostButton } from '../components/post.tsx';
import { Fields, Part, State } from '../components/shown.tsx';
import { t, titleOf } from '../i18n/words.ts';

/** Whether the user may change the hook at this path, and so have it deliver again. */
export function useIsManaged(hook: string): boolean {
  const { value: options } = useAnswer<Description>('OPTIONS', hook);
  return options?.isOk === true && permittedMethods(options.headers)?.includes('PATCH') === true;
}

export function DeliveryPage({ hook, uuid }: { readonly hook: string; readonly uuid: string }): JSX.Element {
  const own = `/hooks-web/${hook}/`;
  const path = `/api${own}deliveries/${uuid}/`;
  const { value: answer, reload } = useObject(path);
  const isManaged = useIsManaged(`/api${own}`);
  if (!answer) return <p aria-busy="true">{t('Loading…')}</p>;
  const { body: delivery, isOk } = answer;
  const trail = (
    <nav aria-label={t('Where this is')} class="trail">
      <a href={hrefOf(own)}>{titleOf('hook')}</a> <a href={hrefOf(`${own}deliveries/`)}>{titleOf('deliveries')}</a>
    </nav>
  );
  if (!isOk)
    return (
      <>
        {trail}
        <h1 tabIndex={-1}>{t('Not here')}</h1>
        <p role="alert" class="problem">
          {problemOf(delivery)}
        </p>
      </>
    );
  const title = choiceText(textOf(delivery, 'event_type'));
  const status = textOf(delivery, 'status');
  const { request, response } = delivery;
  return (
    <>
      {trail}
      <header class="page">
        <h1 tabIndex={-1}>
          {title} <State value={status} />
        </h1>
      </header>
      {textOf(delivery, 'error_message') !== '' && <p class="problem">{textOf(delivery, 'error_message')}</p>}
      {isManaged && status !== 'pending' && (
        <div class="buttons start">
          <PostButton title={t('Redeliver')} path={`${path}redeliver/`} about={title} done={reload} />
        </div>
      )}
      <Part
        title={t('Request')}
        empty={isItem(request) ? undefined : t('The event is no longer kept: nothing can be sent.')}
      >
        {isItem(request) && (
          <Message start={`${textOf(request, 'method')} ${textOf(request, 'url')}`} message={request} />
        )}
      </Part>
      <Part
        title={t('Answer')}
        empty={isItem(response) ? undefined : t('Nobody has answered the last attempt, if there was one.')}
      >
        {isItem(response) && (
          <Message
            start={t('{status}, after {duration} ms', {
              status: String(response.status),
              duration: Number(response.duration),
            })}
            message={response}
          />
        )}
      </Part>
      <Part title={t('Details')}>
        <Fields item={delivery} hidden={['error_message', 'request', 'response']} />
      </Part>
    </>
  );
}

/** A message of HTTP: its first line, headers as they are called there, and its body, JSON with a line for each member. */
function Message({ start, message }: { readonly start: string; readonly message: Item }): JSX.Element {
  const { headers } = message;
  const body = textOf(message, 'body');
  return (
    <>
      <p class="text">{start}</p>
      <dl>
        {Object.entries(isItem(headers) ? headers : {}).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="text">{String(value)}</dd>
          </div>
        ))}
      </dl>
      {body !== '' && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
        <pre tabIndex={0}>{inLines(body)}</pre>
      )}
    </>
  );
}

/** A text, with a line for each member where it is JSON. */
function inLines(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
