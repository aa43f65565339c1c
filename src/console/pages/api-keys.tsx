/** Creates, rotates and revokes API keys of a person or a service account. */
import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { type Item, pathOf, request, textOf } from '../api/api.ts';
import { formFieldsOf } from '../api/fields.ts';
import { refresh, useRequest } from '../api/reading.ts';
import { collections } from '../api/session.ts';
import { RowActions } from '../components/actions.tsx';
import { Button } from '../components/button.tsx';
import { Callout, Loading } from '../components/card.tsx';
import { creationNotice, type Description } from '../components/creation.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { ListCard } from '../components/list-card.tsx';
import { showSecretOf } from '../components/secret.tsx';
import { Badge } from '../components/status.tsx';
import { notify } from '../components/toast.tsx';
import { nameOf, ObjectLink, Time } from '../components/values.tsx';
import { phrase, serverText, serverTextLanguage, t, titleOf } from '../i18n/words.ts';

const list = 'api-keys';

/** The keys of a user or a service account. */
export function ApiKeys({
  query,
  account,
  canCreate: isCreator,
}: {
  readonly query: string;
  readonly account?: Item;
  /** Whether the user may create keys here. */
  readonly canCreate: boolean;
}): JSX.Element {
  return (
    <ListCard
      title={titleOf(list)}
      path={`/${list}/`}
      query={query}
      size={20}
      empty={t('No API keys yet.')}
      lines={lines}
      actions={isCreator && <Creation account={account} />}
    />
  );
}

const lines = (keys: readonly Item[]): JSX.Element => (
  <ul class="lines">
    {keys.map((key) => (
      <li key={textOf(key, 'url')}>
        <span class="words">
          <ObjectLink item={key} />
          <span class="sub">
            <code>{textOf(key, 'prefix')}…</code> {Array.isArray(key.scopes) && key.scopes.join(', ')}
          </span>
          <span class="sub">
            {textOf(key, 'last_used') === ''
              ? t('Never used')
              : phrase('Last used {time} from {address}', {
                  time: <Time value={textOf(key, 'last_used')} />,
                  address: textOf(key, 'last_used_address'),
                })}
          </span>
        </span>
        <span class="end">
          <KeyState apiKey={key} />
          <KeyActions apiKey={key} />
        </span>
      </li>
    ))}
  </ul>
);

/** The state and expiry of a key. */
function KeyState({ apiKey: key }: { readonly apiKey: Item }): JSX.Element {
  const state = textOf(key, 'state');
  if (state === 'expired') return <Badge tone="bad">{t('Expired')}</Badge>;
  return (
    <>
      {state === 'rotating' && (
        <Badge tone="warn">
          {phrase('old key until {time}', { time: <Time value={textOf(key, 'previous_key_expires')} /> })}
        </Badge>
      )}
      {textOf(key, 'expires') === ''
        ? t('does not expire')
        : phrase('until {time}', { time: <Time value={textOf(key, 'expires')} /> })}
    </>
  );
}

function KeyActions({ apiKey: key }: { readonly apiKey: Item }): JSX.Element | null {
  const collection = collections.value.get(list);
  return collection ? (
    <RowActions
      path={pathOf(textOf(key, 'url')).slice('/api'.length)}
      item={key}
      etag={null}
      collection={collection}
      titles={{ DELETE: t('Revoke') }}
      reload={async () => undefined}
    />
  ) : null;
}

/** The button that creates a key, and its dialog. */
function Creation({ account }: { readonly account: Item | undefined }): JSX.Element | null {
  const { value: response } = useRequest<Description>('OPTIONS', `/api/${list}/`);
  const [isOpen, setOpen] = useState(false);
  const post = response?.isOk ? response.body.actions?.POST : undefined;
  if (post === undefined) return null;
  return (
    <>
      <Button icon="create" small opensDialog onClick={() => setOpen(true)}>
        {t('New API key')}
      </Button>
      {isOpen && <CreationDialog post={post} account={account} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Fields with a special control, or set by the page. */
const ownFields = new Set(['scopes', 'service_account']);

/** Fields that limit where a key works, which few keys need. */
const limits = new Set(['customers', 'projects', 'networks']);

function CreationDialog({
  post,
  account,
  onClose,
}: {
  readonly post: unknown;
  readonly account: Item | undefined;
  readonly onClose: () => void;
}): JSX.Element {
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const fields = formFieldsOf(post, collections.value.get(list))
    .filter(({ name }) => !ownFields.has(name))
    .map((field) => ({ ...field, isFolded: limits.has(field.name) }));
  return (
    <Dialog
      title={account ? t('New API key of {name}', { name: nameOf(account) }) : t('New API key')}
      onClose={onClose}
    >
      <Form
        fields={fields}
        button={t('Create')}
        onCancel={onClose}
        send={async (body) => {
          const created = await request<Item>('POST', `/api/${list}/`, {
            body: { ...body, scopes, ...(account && { service_account: textOf(account, 'url') }) },
          });
          if (created.isOk) {
            onClose();
            notify(creationNotice(created.body));
            showSecretOf(created.body, nameOf(created.body));
            refresh();
          }
          return created;
        }}
      >
        <Scopes chosen={scopes} onChoose={setScopes} />
      </Form>
    </Dialog>
  );
}

/** Returns the group of a scope: the part before the colon. */
const groupOf = (scope: string): string => scope.split(':')[0] ?? '';

/** Chooses the access to each group of operations: none, read, or read and write. */
function Scopes({
  chosen,
  onChoose,
}: {
  readonly chosen: readonly string[];
  readonly onChoose: (scopes: readonly string[]) => void;
}): JSX.Element {
  const { value: response } = useRequest<readonly Item[]>('GET', `/api/${list}/scopes/`);
  const all = response?.isOk ? response.body : [];
  const groups = [...new Set(all.map((one) => groupOf(textOf(one, 'scope'))))].sort(
    (a, b) => Number(b === '*') - Number(a === '*'),
  );
  const granting = all
    .filter((one) => one.grants_access === true && chosen.includes(textOf(one, 'scope')))
    .map((one) => textOf(one, 'scope'));
  return (
    <fieldset class="field across">
      <legend>
        {titleOf('scopes')} <span aria-hidden="true">*</span>
      </legend>
      {response ? (
        <div class="scopes">
          {groups.map((group) => (
            <Group
              key={group}
              scopes={all.filter((one) => groupOf(textOf(one, 'scope')) === group)}
              chosen={chosen.find((scope) => groupOf(scope) === group) ?? ''}
              onChoose={(scope) =>
                onChoose([...chosen.filter((one) => groupOf(one) !== group), ...(scope === '' ? [] : [scope])])
              }
            />
          ))}
        </div>
      ) : (
        <Loading />
      )}
      {granting.length > 0 && (
        <Callout tone="warn" isNew>
          {t('With {scopes} this key can create access that remains when the key is revoked.', {
            scopes: granting.join(', '),
          })}
        </Callout>
      )}
    </fieldset>
  );
}

/** The scopes of a group, with an explanation of the chosen or the first one. */
function Group({
  scopes,
  chosen,
  onChoose,
}: {
  readonly scopes: readonly Item[];
  readonly chosen: string;
  readonly onChoose: (scope: string) => void;
}): JSX.Element {
  const id = useId();
  const group = groupOf(textOf(scopes[0] ?? {}, 'scope'));
  const explained = scopes.find((one) => textOf(one, 'scope') === chosen) ?? scopes[0] ?? {};
  const explanation = textOf(explained, 'description');
  return (
    <div class="field">
      <label for={id}>{titleOfGroup(group)}</label>
      <select
        id={id}
        class="select"
        value={chosen}
        aria-describedby={`${id}-help`}
        onInput={(event) => onChoose(event.currentTarget.value)}
      >
        <option value="">{t('No access')}</option>
        {scopes.map((one) => (
          <option key={textOf(one, 'scope')} value={textOf(one, 'scope')}>
            {textOf(one, 'scope').endsWith(':write') ? t('Read and write') : t('Read only')}
          </option>
        ))}
      </select>
      <span id={`${id}-help`} class="help" lang={serverTextLanguage(explanation)}>
        {serverText(explanation)}
      </span>
    </div>
  );
}

/** Returns the title of a group of operations. */
function titleOfGroup(group: string): string {
  if (group === '*') return t('Everything');
  return group === 'permissions' ? t('Roles') : titleOf(listNames[group] ?? group);
}

/** The lists of groups with another name. */
const listNames: Readonly<Record<string, string>> = {
  invitations: 'user-invitations',
  services: 'service-settings',
  'ssh-keys': 'keys',
};
