/** A failed resource: cause, effect, next step, and other failures in its project. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, listIn, pathOf, problemOf, request, textOf } from '../api/api.ts';
import { useFailedActions } from '../api/failures.ts';
import { refresh, usePage } from '../api/reading.ts';
import { go, hrefOf } from '../api/route.ts';
import { collections } from '../api/session.ts';
import type { CanPerform } from '../components/actions.tsx';
import { Button } from '../components/button.tsx';
import { Callout, Card } from '../components/card.tsx';
import { mayHaveRight } from '../components/creation.tsx';
import { Confirmation } from '../components/dialog.tsx';
import { Icon } from '../components/icons.tsx';
import { PostButton } from '../components/post.tsx';
import { notify } from '../components/toast.tsx';
import { nameOf, ObjectLink } from '../components/values.tsx';
import { statusOf } from '../format/status.ts';
import { joinedText } from '../format/text.ts';
import { serverText, t } from '../i18n/words.ts';
import { newResourcePath } from './new-resource.tsx';

/**
 * Why a resource failed, and what can be done: to create it again or to remove it, or to read its present state. The `action` of
 * the resource is the one that failed, once it is known.
 */
export function FailedResource({ resource, can }: { readonly resource: Item; readonly can: CanPerform }): JSX.Element {
  const path = pathOf(textOf(resource, 'url'));
  const exists = textOf(resource, 'backend_id') !== '';
  return (
    <Callout
      tone="bad"
      title={t(statusOf(resource).word)}
      action={
        exists ? (
          can('pull') && <PostButton title={t('Refresh')} path={`${path}pull/`} about={nameOf(resource)} />
        ) : (
          <span class="row">
            <CreateAgain path={path} />
            {can('destroy') && <Removal resource={resource} path={path} />}
          </span>
        )
      }
    >
      <p>{serverText(textOf(resource, 'error_message'))}</p>
      <p>
        {exists
          ? t('A refresh reads the current state from the provider.')
          : t('It does not exist at the provider, but counts towards the quotas of {project} until it is removed.', {
              project: textOf(resource, 'project_name'),
            })}
      </p>
    </Callout>
  );
}

function CreateAgain({ path }: { readonly path: string }): JSX.Element | null {
  const list = listIn(path);
  const collection = collections.value.get(list);
  if (!collection?.isCreatable || !mayHaveRight(collection.creators)) return null;
  return (
    <a class="btn sm primary" href={hrefOf(`${newResourcePath}${list}/`, { like: path })}>
      <Icon name="restart" />
      {t('Create again')}
    </a>
  );
}

/** Removes a resource that never existed at its provider. */
function Removal({ resource, path }: { readonly resource: Item; readonly path: string }): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const name = nameOf(resource);

  async function remove(): Promise<void> {
    setAsking(false);
    setBusy(true);
    const { body, isOk } = await request<Item>('DELETE', path);
    setBusy(false);
    notify(isOk ? t('{name} is being removed', { name }) : problemOf(body), { tone: isOk ? 'good' : 'bad' });
    if (!isOk) return;
    refresh();
    go('/resources/', { project_uuid: textOf(resource, 'project_uuid') });
  }

  return (
    <>
      <Button icon="remove" small isBusy={isBusy} opensDialog onClick={() => setAsking(true)}>
        {t('Remove')}
      </Button>
      {isAsking && (
        <Confirmation
          title={t('{action} {name}?', { action: t('Remove'), name })}
          question={t('Nothing exists at the provider. Its record and its events stay in the history.')}
          button={t('Remove')}
          onYes={() => void remove()}
          onNo={() => setAsking(false)}
        />
      )}
    </>
  );
}

/** Reads the other failed resources of a failed resource's project; undefined until loaded. */
export function useOtherFailures(resource: Item): readonly Item[] | undefined {
  const query = { state: 'Erred', project_uuid: textOf(resource, 'project_uuid'), page_size: '6' };
  const { value: page } = usePage(
    textOf(resource, 'state') === 'Erred' ? `/api/resources/?${new URLSearchParams(query)}` : '',
  );
  const others = useFailedActions(
    (page?.items ?? []).filter((item) => textOf(item, 'uuid') !== textOf(resource, 'uuid')).slice(0, 5),
  );
  return page && others;
}

/** Other failed resources of the project. Renders nothing if there are none. */
export function OtherFailures({ resources: others }: { readonly resources: readonly Item[] }): JSX.Element | null {
  if (others.length === 0) return null;
  return (
    <Card title={t('Also failed in this project')} isFlush>
      <ul class="lines">
        {others.map((item) => (
          <li key={textOf(item, 'url')}>
            <span class="words">
              <ObjectLink item={item} />
              <span class="sub">{joinedText([t(statusOf(item).word), serverText(textOf(item, 'error_message'))])}</span>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
