/** The actions of an object, with reasons for unavailable ones, from OPTIONS for the caller and the current state. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Item, isItem, pathOf, problemOf, request, textOf } from '../api/api.ts';
import { configuration } from '../api/configuration.ts';
import type { Collection } from '../api/document.ts';
import { type FormField, formFieldsOf, isOfSimulator } from '../api/fields.ts';
import { refresh, useReading } from '../api/reading.ts';
import { go } from '../api/route.ts';
import { actAs, collections, me } from '../api/session.ts';
import { exactTime } from '../format/text.ts';
import { actionTitle, plural, serverText, t } from '../i18n/words.ts';
import { ownValue } from '../item.ts';
import { Button } from './button.tsx';
import { Skeleton } from './card.tsx';
import { changedFields, currentVersion, type EditResponse, type Version } from './conflict.tsx';
import { type Description, permittedMethods } from './creation.tsx';
import { Confirmation, Dialog, Guarded } from './dialog.tsx';
import { Form } from './form.tsx';
import { hasIcon, Icon } from './icons.tsx';
import { type MenuItem, MenuItems } from './menu.tsx';
import { Popover } from './popover.tsx';
import { showSecretOf } from './secret.tsx';
import { notify } from './toast.tsx';
import { nameOf } from './values.tsx';

/** One action. */
interface Action {
  /** Such as `start`, `update`, `destroy` or `PATCH`. */
  readonly name: string;
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly isDestructive: boolean;
  /** Why it is currently unavailable. */
  readonly reason: string | undefined;
  readonly fields: readonly FormField[];
}

interface Target {
  /** Below /api, such as `/customers/<uuid>/`. */
  readonly path: string;
  readonly item: Item;
  readonly etag: string | null;
  readonly collection: Collection;
  readonly reload: () => Promise<void>;
  /** Overrides of method and action titles on this page. */
  readonly titles?: Readonly<Record<string, string>> | undefined;
  /** Whether the object is one of several on the page. If so, the page stays open after a deletion. */
  readonly isRow?: boolean | undefined;
}

/** Actions that get a button when available, by priority. All others are in the menu. */
const buttonActions = [
  'acknowledge',
  'cancel_acknowledgment',
  'restart',
  'start',
  'stop',
  'attach',
  'extend',
  'snapshot',
  'restore',
  'send',
  'test',
  'sync',
];

/** Whether the user can perform the named action of an object. */
export type CanPerform = (action: string) => boolean;

/** Returns the buttons (at most two), the menu and the open dialog of an object. */
export function useActions(
  target: Target,
  maxButtons = 2,
): {
  readonly buttons: ComponentChildren;
  readonly menu: readonly MenuItem[];
  readonly dialog: ComponentChildren;
  readonly isLoaded: boolean;
  /** Whether the user can perform an action now; false until the actions are loaded. */
  readonly can: CanPerform;
} {
  const { actions, reload } = useActionList(target);
  const again = async (): Promise<void> => {
    await Promise.all([target.reload(), reload()]);
  };
  const { busy, dialog, start } = useActionRunner({ ...target, reload: again });
  const usable = (actions ?? []).filter(({ isDestructive, reason }) => !isDestructive && reason === undefined);
  const wanted = buttonActions.flatMap((name) => usable.filter((action) => action.name === name)).slice(0, maxButtons);
  // Editing comes last. Resources, which are rarely edited, have it only without another.
  const edits = usable.filter(({ method }) => method === 'PATCH').slice(0, 1);
  const isEdited = wanted.length === 0 || textOf(target.item, 'resource_type') === '';
  const buttons = [...wanted, ...(isEdited ? edits : [])].slice(0, maxButtons);
  const rest = (actions ?? []).filter((action) => !buttons.includes(action));
  return {
    buttons: buttons.map((action) => (
      <Button
        key={action.title}
        icon={iconOf(action)}
        isBusy={busy === action.title}
        opensDialog={opensDialog(action)}
        onClick={() => start(action)}
      >
        {action.title}
      </Button>
    )),
    menu: menuOf(rest, start),
    dialog,
    isLoaded: actions !== undefined,
    can: (name) => actions?.some((action) => action.name === name && action.reason === undefined) === true,
  };
}

/** The actions of a row behind a button "…". Requests OPTIONS when the menu opens. */
export function RowActions(target: Target): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const { dialog, start } = useActionRunner({ ...target, isRow: true });
  const close = (): void => setOpen(false);
  return (
    <>
      <button
        ref={button}
        type="button"
        class="btn icon-only quiet sm"
        aria-label={t('Actions for {name}', { name: nameOf(target.item) })}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" />
      </button>
      {isOpen && (
        <Popover anchor={() => button.current} align="end" onClose={close}>
          <RowMenu {...target} start={start} onClose={close} />
        </Popover>
      )}
      {dialog}
    </>
  );
}

function RowMenu({
  onClose,
  start,
  ...target
}: Target & { readonly start: (action: Action) => void; readonly onClose: () => void }): JSX.Element {
  const { actions } = useActionList(target);
  if (actions === undefined) return <Skeleton lines={2} />;
  if (actions.length === 0) return <p class="in note">{t('Nothing can be done here.')}</p>;
  return (
    <MenuItems
      label={t('Actions for {name}', { name: nameOf(target.item) })}
      items={menuOf(actions, start)}
      onClose={onClose}
    />
  );
}

const iconOf = ({ method, name }: Action): string | undefined =>
  [name, ...name.split('_'), { PATCH: 'edit', DELETE: 'delete' }[method] ?? ''].find(hasIcon);

const opensDialog = ({ fields, isDestructive }: Action): boolean => fields.length > 0 || isDestructive;

/** Converts actions to menu items, destructive ones last. */
function menuOf(actions: readonly Action[], start: (action: Action) => void): readonly MenuItem[] {
  const safe = actions.filter(({ isDestructive }) => !isDestructive);
  // The most destructive action comes last.
  const destructive = actions
    .filter(({ isDestructive }) => isDestructive)
    .sort((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'));
  return [...safe, ...destructive].map((action) => ({
    title: action.title,
    icon: iconOf(action),
    reason: action.reason,
    isDestructive: action.isDestructive,
    isSeparated: action === destructive[0],
    opensDialog: opensDialog(action),
    onSelect: () => start(action),
  }));
}

/** Reads the actions of an object, and again when its state changes. Undefined until the first response. */
function useActionList({ collection, etag, item, path, titles = {} }: Target): {
  readonly actions: readonly Action[] | undefined;
  readonly reload: () => Promise<void>;
} {
  const { value, reload } = useReading(`actions ${path} ${collection.actions.join()}`, () =>
    readActions(path, collection),
  );
  const version = [etag, textOf(item, 'state'), textOf(item, 'runtime_state')].join(' ');
  const seen = useRef(version);
  useEffect(() => {
    if (seen.current !== version) void reload();
    seen.current = version;
  }, [version, reload]);
  const actions = value?.map((action) => ({
    ...action,
    title: ownValue(titles, action.name) ?? ownValue(titles, action.method) ?? action.title,
  }));
  return { actions, reload };
}

async function readActions(path: string, collection: Collection): Promise<readonly Action[]> {
  const response = await request<Description>('OPTIONS', `/api${path}`);
  if (!response.isOk) return [];
  const own = actionsOf(response.body, response.headers, path, collection);
  const hasList = Object.values(response.body.actions ?? {}).some((action) => isItem(action) && action.method);
  if (hasList) return own;
  // If OPTIONS lists no actions, each action path has its own OPTIONS.
  const posted = await Promise.all(collection.actions.map((name) => readAction(path, name, collection)));
  return [...posted.filter((action) => action !== undefined), ...own];
}

/** Reads an action by its path; undefined if it is unavailable. */
async function readAction(object: string, name: string, collection: Collection): Promise<Action | undefined> {
  const path = `/api${object}${name}/`;
  const response = await request<Description>('OPTIONS', path);
  const post = response.isOk && !response.headers.has('X-Refusal') ? response.body.actions?.POST : undefined;
  if (post === undefined) return undefined;
  return {
    name,
    title: actionTitle(name),
    method: 'POST',
    path,
    isDestructive: /cancel$|reject|remove|revoke|close/.test(name),
    reason: undefined,
    fields: formFieldsOf(post, collection),
  };
}

/** Parses both formats of OPTIONS: a list of actions, or the fields of PUT with the permitted methods. */
function actionsOf(body: Description, headers: Headers, path: string, collection: Collection): readonly Action[] {
  const { actions = {} } = body;
  const listed = Object.entries(actions).filter(
    (entry): entry is [string, Item] => isItem(entry[1]) && !!entry[1].method,
  );
  if (listed.length > 0)
    return listed.map(([name, action]) => ({
      name,
      title: actionTitle(name, textOf(action, 'title')),
      method: textOf(action, 'method') === 'PUT' ? 'PATCH' : textOf(action, 'method'),
      path: pathOf(textOf(action, 'url')),
      isDestructive: action.destructive === true,
      reason: serverText(textOf(action, 'reason')) || undefined,
      fields: formFieldsOf(action.fields, collection),
    }));
  const permitted = permittedMethods(headers) ?? [];
  const common = { path: `/api${path}`, reason: undefined };
  const fields = formFieldsOf(actions.PUT, collection);
  return [
    ...(permitted.includes('PATCH') && fields.length > 0
      ? [{ ...common, name: 'update', title: t('Edit'), method: 'PATCH', isDestructive: false, fields }]
      : []),
    ...(permitted.includes('DELETE')
      ? [{ ...common, name: 'delete', title: t('Delete'), method: 'DELETE', isDestructive: true, fields: [] }]
      : []),
  ];
}

/** Performs actions: immediately, after confirmation, or with form input. */
function useActionRunner({ collection, etag, isRow, item, path, reload }: Target): {
  readonly start: (action: Action) => void;
  readonly dialog: ComponentChildren;
  /** The title of the action that is being sent. */
  readonly busy: string | undefined;
} {
  const [open, setOpen] = useState<Action>();
  const [busy, setBusy] = useState<string>();
  // The form keeps the version from when it was opened, even if the page is refreshed.
  const [version, setVersion] = useState<Version>({ item, etag });

  async function start(action: Action): Promise<void> {
    if (!opensDialog(action)) {
      await act(action);
      return;
    }
    const current = { item, etag };
    // Lists have no ETags of their objects.
    if (action.method === 'PATCH') setVersion(etag === null ? await currentVersion(action.path, current) : current);
    setOpen(action);
  }

  async function act(action: Action, body?: Item | FormData): Promise<EditResponse> {
    const { fields, method, name, title } = action;
    setBusy(title);
    const flags = method === 'DELETE' && body && !(body instanceof FormData) ? flagsOf(body) : '';
    const response = await request<unknown>(method, action.path + flags, {
      body: method === 'DELETE' ? undefined : withPolicy(collection, item, method, body),
      etag: method === 'PATCH' ? version.etag : method === 'DELETE' ? etag : undefined,
    });
    setBusy(undefined);
    if (response.status === 412 && method === 'PATCH') {
      const now = await currentVersion(action.path, version);
      setVersion(now);
      return { ...response, changed: changedFields(fields, version.item, now.item) };
    }
    if (!response.isOk) {
      if (response.status !== 400) notify(problemOf(response.body), { tone: 'bad' });
      if (response.status === 412) await reload();
      return response;
    }
    setOpen(undefined);
    if (name === 'impersonate' && isItem(response.body)) {
      await actAs(textOf(response.body, 'token'), textOf(response.body, 'expires'));
      return response;
    }
    if (method !== 'PATCH') showSecretOf(response.body, `${title}: ${nameOf(item)}`);
    const message = isItem(response.body) ? problemOf(response.body) : '';
    notify(message || recoveredText(response.body) || resultOf(name, title, nameOf(item), response.status));
    const isGone = method === 'DELETE' && response.status === 204;
    refresh();
    if (isGone && !isRow) go(`/${collection.name}/`);
    else if (!isGone) await reload();
    return response;
  }

  const close = (): void => setOpen(undefined);
  const isTyped = open?.method === 'DELETE' && textOf(item, 'resource_type') !== '';
  const dialog =
    open &&
    (open.fields.length === 0 ? (
      <Confirmation
        title={t('{action} {name}?', { action: open.title, name: nameOf(item) })}
        question={questionOf(open, item)}
        button={open.title}
        typed={isTyped ? nameOf(item) : undefined}
        onYes={() => void act(open).then(close)}
        onNo={close}
      />
    ) : (
      <Dialog title={`${open.title}: ${nameOf(item)}`} onClose={close}>
        {isTyped && <p>{questionOf(open, item)}</p>}
        <Guarded typed={isTyped ? nameOf(item) : undefined}>
          {(guard, isBlocked) => (
            <Form
              key={`${path} ${open.title}`}
              // The API accepts the simulator's options for every account, but real providers ignore them.
              fields={open.fields.filter(({ name }) => item.is_simulated !== false || !isOfSimulator(name))}
              {...(open.method === 'PATCH' ? { item: version.item } : { initialValues: initialValuesOf(open, item) })}
              button={open.method === 'PATCH' ? t('Save') : open.title}
              isDangerous={open.isDestructive}
              isBlocked={isBlocked}
              send={(body) => act(open, body)}
              onCancel={close}
            >
              {guard}
            </Form>
          )}
        </Guarded>
      </Dialog>
    ));
  return { start: (action) => void start(action), dialog, busy };
}

/** Reports how many deliveries a recovery has queued, and until when; empty for other actions. */
function recoveredText(body: unknown): string {
  if (!isItem(body) || typeof body.count !== 'number' || typeof body.until !== 'string') return '';
  if (body.count === 0) return t('Nothing was missed in this period.');
  return t('{deliveries} until {time}.', {
    deliveries: plural(body.count, '{count} delivery is queued', '{count} deliveries are queued'),
    time: exactTime(body.until),
  });
}

/** Describes the result of an action. */
function resultOf(name: string, title: string, object: string, status: number): string {
  const startedTexts: Readonly<Record<string, string>> = {
    start: t('{name} is starting', { name: object }),
    stop: t('{name} is stopping', { name: object }),
    restart: t('{name} is restarting', { name: object }),
    pull: t('{name} is being refreshed', { name: object }),
    destroy: t('{name} is being destroyed', { name: object }),
  };
  const done: Readonly<Record<string, string>> = {
    update: t('{name} saved', { name: object }),
    delete: t('{name} deleted', { name: object }),
    unlink: t('{name} is no longer managed', { name: object }),
  };
  if (status === 202) return ownValue(startedTexts, name) ?? t('{title}: started.', { title });
  return ownValue(done, name) ?? t('{title}: done.', { title });
}

/** Returns the confirmation text of an action, with its consequences. */
function questionOf({ name }: Action, item: Item): string {
  if (name === 'unlink')
    return t('It keeps running at the provider but is removed from this service. You can import it again.');
  if (name === 'destroy')
    return t('It will be deleted from {account}. This cannot be undone.', {
      account: textOf(item, 'service_name') || t('the provider'),
    });
  return t('This cannot be undone.');
}

/** Adds the policy agreement that changes to one's own account require (core.md 4.2), if the server has no policy to show. */
const withPolicy = (
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

/** Converts deletion options to a query. */
const flagsOf = (body: Item): string =>
  `?${new URLSearchParams(Object.entries(body).map(([name, value]) => [name, String(value)]))}`;

/** Returns the initial values of a form: the current list items, which the form replaces, or the last day for a recovery. */
const initialValuesOf = ({ fields, name }: Action, item: Item): Item => ({
  ...Object.fromEntries(
    fields.filter(({ kind }) => kind === 'rows').map((field) => [field.name, item[field.name] ?? []]),
  ),
  ...(name === 'recover' && { since: new Date(Date.now() - 86_400_000).toISOString() }),
});

const reloadLists = async (): Promise<void> => refresh();

/** Returns the actions of an object in a table, by the list in its address. */
export function rowActions(item: Item): JSX.Element | undefined {
  const path = pathOf(textOf(item, 'url')).replace('/api/', '/');
  const collection = collections.value.get(path.split('/')[1] ?? '');
  return collection && <RowActions path={path} item={item} etag={null} collection={collection} reload={reloadLists} />;
}
