/** Service accounts of a customer or project, and the page of one with its API keys. */
import type { JSX } from 'preact';
import { type Item, pathOf, textOf } from '../api/api.ts';
import type { FormField } from '../api/fields.ts';
import { useObject } from '../api/reading.ts';
import { hrefOfLink } from '../api/route.ts';
import { collections, mayGrantInCustomers } from '../api/session.ts';
import { RowActions } from '../components/actions.tsx';
import { Card, FieldFacts } from '../components/card.tsx';
import { Creation, mayHaveRight } from '../components/creation.tsx';
import { ListCard } from '../components/list-card.tsx';
import { Badge } from '../components/status.tsx';
import { nameOf, ObjectLink } from '../components/values.tsx';
import { t, titleOf } from '../i18n/words.ts';
import { ApiKeys } from './api-keys.tsx';
import type { ObjectRecipe, ObjectTab } from './object.tsx';

const list = 'service-accounts';

type Kind = 'customer' | 'project';

/** Roles of service accounts, by kind of place. */
const roles: Readonly<Record<Kind, readonly string[]>> = {
  customer: ['owner', 'support'],
  project: ['admin', 'manager', 'support'],
};

/** A part of the Team tab of a customer or project, for users who may manage service accounts anywhere. */
export const serviceAccountsPart = (kind: Kind): ObjectTab => ({
  name: list,
  get title() {
    return titleOf(list);
  },
  isShown: () => {
    const collection = collections.value.get(list);
    return collection !== undefined && mayHaveRight(collection.creators);
  },
  content: (item) => <ServiceAccounts item={item} kind={kind} />,
});

function ServiceAccounts({ item, kind }: { readonly item: Item; readonly kind: Kind }): JSX.Element {
  const collection = collections.value.get(list);
  return (
    <ListCard
      title={titleOf(list)}
      path={`/${list}/`}
      query={`${kind}=${textOf(item, 'uuid')}`}
      size={20}
      empty={t('No service accounts yet. Programs use them instead of the account of a person.')}
      lines={lines}
      actions={
        collection &&
        (kind === 'project' || mayGrantInCustomers()) && (
          <Creation
            collection={collection}
            fixed={{ [kind]: textOf(item, 'url') }}
            button={t('New service account')}
            adapt={fieldsIn(kind)}
            isQuiet
          />
        )
      }
    />
  );
}

/** Omits the field of the other kind of place, the roles that do not exist here, and the state, which is enabled at first. */
const fieldsIn = (kind: Kind) => (fields: readonly FormField[]) =>
  fields
    .filter(({ name }) => name !== (kind === 'customer' ? 'project' : 'customer') && name !== 'is_active')
    .map((field) =>
      field.name === 'role'
        ? { ...field, help: '', choices: field.choices.filter(({ value }) => roles[kind].includes(value)) }
        : field,
    );

const lines = (accounts: readonly Item[]): JSX.Element => (
  <ul class="lines">
    {accounts.map((account) => (
      <li key={textOf(account, 'url')}>
        <span class="words">
          <ObjectLink item={account} />
          <span class="sub">
            {t(textOf(account, 'role'))} · <code>{textOf(account, 'username')}</code>
          </span>
        </span>
        <span class="end">
          <Disabled account={account} />
          <AccountActions account={account} />
        </span>
      </li>
    ))}
  </ul>
);

const Disabled = ({ account }: { readonly account: Item }): JSX.Element | null =>
  account.is_active === false ? <Badge tone="warn">{t('Disabled')}</Badge> : null;

function AccountActions({ account }: { readonly account: Item }): JSX.Element | null {
  const collection = collections.value.get(list);
  return collection ? (
    <RowActions
      path={pathOf(textOf(account, 'url')).slice('/api'.length)}
      item={account}
      etag={null}
      collection={collection}
      reload={async () => undefined}
    />
  ) : null;
}

/** The page of a service account: its keys and roles. */
export const serviceAccount: ObjectRecipe = {
  overview: (account) => (
    <div class="stack">
      <ApiKeys
        query={`service_account=${textOf(account, 'uuid')}`}
        account={account}
        canCreate={account.is_active === true}
      />
      <Card title={t('Overview')}>
        <FieldFacts item={account} names={['role', 'description', 'created']} />
      </Card>
    </div>
  ),
  badge: (account) => <Disabled account={account} />,
  facts: (account) => (
    <>
      <span>
        <a href={hrefOfLink(textOf(account, 'user'))}>{textOf(account, 'username')}</a>
      </span>
      {placeOf(account) !== '' && <Place link={placeOf(account)} />}
    </>
  ),
};

/** Returns the link of a service account's customer or project; empty once that is deleted. */
const placeOf = (account: Item): string => textOf(account, 'project') || textOf(account, 'customer');

function Place({ link }: { readonly link: string }): JSX.Element | null {
  const { value: response } = useObject(pathOf(link));
  if (!response?.isOk) return null;
  return (
    <span>
      <a href={hrefOfLink(link)}>{nameOf(response.body)}</a>
    </span>
  );
}
