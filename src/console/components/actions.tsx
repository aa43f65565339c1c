/** What can be done with an object, and why not: in the words of OPTIONS. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Item, isItem, pathOf, problemOf, request, textOf } from '../api/api.ts';
import { configuration } from '../api/configuration.ts';
import type { Answer } from '../api/connection.ts';
import type { Collection } from '../api/document.ts';
import { type FormField, formFieldsOf } from '../api/fields.ts';
import { refresh, useAnswer } from '../api/reading.ts';
import { go } from '../api/route.ts';
import { me } from '../api/session.ts';
import { t, titleOf, told } from '../i18n/words.ts';
import { ownValue } from '../own.ts';
import { type Description, permittedMethods } from './creation.tsx';
import { Confirmation, Dialog, notice } from './dialog.tsx';
import { Form } from './form.tsx';
import { Icon } from './icons.tsx';
import { refusedWith, type Seen, seenNow } from './meanwhile.ts';
import { tellSecretOf } from './secret.tsx';
import { nameOf } from './shown.tsx';

/** One thing that can be done. */
interface Action {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly isDestructive: boolean;
  /** Why it cannot be done now. */
  readonly reason: string | undefined;
  readonly fields: readonly FormField[];
}

interface Properties {
  readonly path: string;
  readonly item: Item;
  readonly etag: string | null;
  readonly collection: Collection;
  readonly reload: () => Promise<void>;
  /** What methods are called here. */
  readonly titles?: Readonly<Record<string, string>>;
  /** Whether it is one of many objects on a page, which stays when the object is gone. */
  readonly isRow?: boolean;
}

export function Actions(properties: Properties): JSX.Element | null {
  const { collection, isRow, path, titles = {} } = properties;
  const { value: answer, reload } = useAnswer<Description>('OPTIONS', `/api${path}`);
  if (!answer?.isOk) return null;
  const again = async (): Promise<void> => {
    await Promise.all([properties.reload(), reload()]);
  };
  const actions = actionsOf(answer.body, answer.headers, path, collection).map((action) => ({
    ...action,
    title: ownValue(titles, action.method) ?? action.title,
  }));
  // Where OPTIONS tells of no actions, each path below the object tells of itself.
  const isOwn = Object.values(answer.body.actions ?? {}).some((action) => isItem(action) && action.method);
  return (
    <section class="actions" aria-label={isRow ? nameOf(properties.item) : t('Actions')}>
      {actions.map((action) => (
        <ActionButton key={action.title} {...properties} reload={again} action={action} />
      ))}
      {!isOwn &&
        collection.actions.map((name) => <FoundAction key={name} {...properties} reload={again} name={name} />)}
    </section>
  );
}

/** An action that nothing but its path is known of before that is asked. */
function FoundAction({ name, ...properties }: Properties & { readonly name: string }): JSX.Element | null {
  const path = `${properties.path}${name}/`;
  const { value: answer, reload } = useAnswer<Description>('OPTIONS', `/api${path}`);
  const { etag } = properties;
  const seen = useRef(etag);
  useEffect(() => {
    // What has no use now may have one when the object has changed.
    if (seen.current !== etag) void reload();
    seen.current = etag;
  }, [etag, reload]);
  const post = answer?.isOk && !answer.headers.has('X-Refusal') ? answer.body.actions?.POST : undefined;
  if (post === undefined) return null;
  const action = {
    title: titleOf(name),
    method: 'POST',
    path: `/api${path}`,
    isDestructive: /cancel|reject|remove|revoke|close/.test(name),
    reason: undefined,
    fields: formFieldsOf(post, properties.collection),
  };
  return <ActionButton {...properties} action={action} />;
}

/** The actions of an object in both formats of OPTIONS: its own list of them, or the fields of PUT and what is permitted. */
function actionsOf(body: Description, headers: Headers, path: string, collection: Collection): readonly Action[] {
  const { actions = {} } = body;
  const described = Object.values(actions).filter((action): action is Item => isItem(action) && !!action.method);
  if (described.length > 0)
    return described.map((action) => ({
      title: t(textOf(action, 'title')),
      method: textOf(action, 'method') === 'PUT' ? 'PATCH' : textOf(action, 'method'),
      path: pathOf(textOf(action, 'url')),
      isDestructive: action.destructive === true,
      reason: told(textOf(action, 'reason')) || undefined,
      fields: formFieldsOf(action.fields, collection),
    }));
  const permitted = permittedMethods(headers) ?? [];
  const common = { path: `/api${path}`, reason: undefined };
  const fields = formFieldsOf(actions.PUT, collection);
  return [
    ...(permitted.includes('PATCH') && fields.length > 0
      ? [{ ...common, title: t('Edit'), method: 'PATCH', isDestructive: false, fields }]
      : []),
    ...(permitted.includes('DELETE')
      ? [{ ...common, title: t('Delete'), method: 'DELETE', isDestructive: true, fields: [] }]
      : []),
  ];
}

function ActionButton({
  action,
  collection,
  etag,
  isRow,
  item,
  reload,
}: Properties & { readonly action: Action }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const { fields, isDestructive, method, path, reason, title } = action;
  // What the form began with stays while it is open, whatever becomes of the page below.
  const [seen, setSeen] = useState<Seen>({ item, etag });

  async function open(): Promise<void> {
    const shown = { item, etag };
    // Lists do not tell in which state their objects are.
    if (method === 'PATCH') setSeen(etag === null ? await seenNow(path, shown) : shown);
    setOpen(true);
  }

  async function act(body?: Item | FormData): Promise<Answer<unknown>> {
    setBusy(true);
    const flags = method === 'DELETE' && body && !(body instanceof FormData) ? flagsOf(body) : '';
    const answer = await request<unknown>(method, path + flags, {
      body: method === 'DELETE' ? undefined : agreeing(collection, item, method, body),
      etag: method === 'PATCH' ? seen.etag : method === 'DELETE' ? etag : undefined,
    });
    setBusy(false);
    if (answer.status === 412 && method === 'PATCH') {
      const now = await seenNow(path, seen);
      setSeen(now);
      return refusedWith(answer, fields, seen.item, now.item);
    }
    if (!answer.isOk) {
      if (answer.status !== 400) notice.value = problemOf(answer.body);
      if (answer.status === 412) await reload();
      return answer;
    }
    setOpen(false);
    if (method !== 'PATCH') tellSecretOf(answer.body, `${title}: ${nameOf(item)}`);
    const told = isItem(answer.body) ? problemOf(answer.body) : '';
    notice.value = told || (answer.status === 202 ? t('{title}: started.', { title }) : t('{title}: done.', { title }));
    if (method === 'DELETE' && answer.status === 204 && isRow) refresh();
    else if (method === 'DELETE' && answer.status === 204) go(`/${collection.name}/`);
    else {
      refresh();
      await reload();
    }
    return answer;
  }

  const isAsked = fields.length > 0 || isDestructive;
  return (
    <>
      <button
        type="button"
        class={isDestructive ? 'danger outline' : 'outline'}
        aria-busy={isBusy}
        aria-haspopup={isAsked ? 'dialog' : undefined}
        // It can still be reached and read why not.
        aria-disabled={reason !== undefined}
        title={reason}
        aria-description={reason}
        onClick={() => {
          if (reason !== undefined) notice.value = reason;
          else if (isAsked) void open();
          else void act();
        }}
      >
        <Icon name={pictureOf(action)} />
        {title}
      </button>
      {isOpen && fields.length === 0 && (
        <Confirmation
          title={`${title}: ${nameOf(item)}`}
          question={t('This cannot be undone.')}
          button={title}
          onYes={() => void act().then(() => setOpen(false))}
          onNo={() => setOpen(false)}
        />
      )}
      {isOpen && fields.length > 0 && (
        <Dialog title={`${title}: ${nameOf(item)}`} onClose={() => setOpen(false)}>
          <Form
            fields={fields}
            {...(method === 'PATCH' ? { item: seen.item } : { given: listsOf(item, fields) })}
            button={title}
            send={act}
            onCancel={() => setOpen(false)}
          />
        </Dialog>
      )}
    </>
  );
}

/** Changes of the own account agree with the policy (core.md 4.2): where there is none, without a question. */
const agreeing = (
  { name }: Collection,
  item: Item,
  method: string,
  body: Item | FormData | undefined,
): Item | FormData | undefined =>
  method === 'PATCH' &&
  name === 'users' &&
  textOf(item, 'uuid') === textOf(me.value ?? {}, 'uuid') &&
  configuration.value?.policy === undefined &&
  isItem(body) &&
  !(body instanceof FormData)
    ? { ...body, agree_with_policy: true }
    : body;

/** What an action does, in a word that has a picture: the method, or the end of the path. */
const pictureOf = ({ method, path }: Action): string =>
  method === 'PATCH' ? 'edit' : method === 'DELETE' ? 'delete' : (path.split('/').at(-2) ?? '');

/** What a removal is told by its query. */
const flagsOf = (body: Item): string =>
  `?${new URLSearchParams(Object.entries(body).map(([name, value]) => [name, String(value)]))}`;

/** The lists that an object has, of those that a form asks for: what is sent replaces them. */
const listsOf = (item: Item, fields: readonly FormField[]): Item =>
  Object.fromEntries(fields.filter(({ kind }) => kind === 'rows').map(({ name }) => [name, item[name] ?? []]));
