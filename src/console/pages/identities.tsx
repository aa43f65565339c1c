/** A user's accounts at OpenID Connect providers for sign-in. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, isItem, itemsIn, pathOf, problemOf, request, textOf } from '../api/api.ts';
import { configuration } from '../api/configuration.ts';
import type { ApiResponse } from '../api/connection.ts';
import { plainField } from '../api/fields.ts';
import { refresh } from '../api/reading.ts';
import { isStaff } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { notify } from '../components/toast.tsx';
import { t, titleOf } from '../i18n/words.ts';

const sameAs = (identity: Item) => (other: Item) =>
  textOf(other, 'provider') === textOf(identity, 'provider') &&
  textOf(other, 'subject') === textOf(identity, 'subject');

/** Edits the current identities of a user, because a login may have added one since the page was loaded. */
async function change(user: Item, edit: (identities: readonly Item[]) => readonly Item[]): Promise<ApiResponse<Item>> {
  const path = pathOf(textOf(user, 'url'));
  const current = await request<Item>('GET', path);
  if (!current.isOk) return current;
  const identities = edit(itemsIn(current.body.identities));
  const changed = await request<Item>('PATCH', path, { body: { identities }, etag: current.headers.get('ETag') });
  if (changed.isOk) refresh();
  return changed;
}

/** The identities of a user, visible to the user and staff, and editable by staff. Renders nothing without providers. */
export function Identities({ user }: { readonly user: Item }): JSX.Element | null {
  const identities = Array.isArray(user.identities) ? user.identities.filter(isItem) : undefined;
  const { providers = [] } = configuration.value ?? {};
  if (!identities || (identities.length === 0 && providers.length === 0)) return null;
  return (
    <Card
      title={titleOf('identities')}
      isFlush={identities.length > 0}
      actions={isStaff.value && providers.length > 0 && <AddIdentity user={user} />}
    >
      {identities.length === 0 ? (
        <p class="muted">{t('No identities: the user cannot sign in with an identity provider.')}</p>
      ) : (
        <ul class="lines">
          {identities.map((identity) => (
            <li key={`${textOf(identity, 'provider')}:${textOf(identity, 'subject')}`}>
              <span class="words">
                <b>{textOf(identity, 'provider')}</b>
                <span class="sub">{textOf(identity, 'subject')}</span>
              </span>
              {isStaff.value && (
                <span class="end">
                  <RemoveIdentity user={user} identity={identity} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function RemoveIdentity({ user, identity }: { readonly user: Item; readonly identity: Item }): JSX.Element {
  const title = t('Remove');
  return (
    <Button
      small
      label={`${title}: ${textOf(identity, 'provider')} ${textOf(identity, 'subject')}`}
      onClick={async () => {
        const isSame = sameAs(identity);
        const { body, isOk } = await change(user, (identities) => identities.filter((other) => !isSame(other)));
        if (isOk) notify(t('{title}: done.', { title }));
        else notify(problemOf(body), { tone: 'bad' });
      }}
    >
      {title}
    </Button>
  );
}

function AddIdentity({ user }: { readonly user: Item }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { providers = [] } = configuration.value ?? {};
  const close = (): void => setOpen(false);
  const title = t('Add identity');
  const fields = [
    {
      ...plainField('provider', t('Provider'), 'choice'),
      choices: providers.map(({ label, name }) => ({ value: name, label })),
    },
    {
      ...plainField('subject', t('Subject'), 'text'),
      maxLength: 255,
      help: t('The unchanging id of the account at the provider, its claim "sub".'),
    },
  ];
  return (
    <>
      <Button icon="create" small opensDialog onClick={() => setOpen(true)}>
        {title}
      </Button>
      {isOpen && (
        <Dialog title={title} onClose={close}>
          <Form
            fields={fields}
            initialValues={providers.length === 1 ? { provider: providers[0]?.name } : {}}
            button={title}
            onCancel={close}
            send={async (body) => {
              const identity = body instanceof FormData ? {} : body;
              const response = await change(user, (identities) => [...identities, identity]);
              if (response.isOk) close();
              // The server's errors refer to the list, but the form has only the new item.
              else if (isItem(response.body) && response.body.identities)
                return { ...response, body: { subject: response.body.identities } };
              return response;
            }}
          />
        </Dialog>
      )}
    </>
  );
}
