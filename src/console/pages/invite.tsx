/** Invites people to customers and projects, and resends and revokes their invitations. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, pathOf, textOf } from '../api/api.ts';
import type { FormField } from '../api/fields.ts';
import { collections, mayGrantInCustomers } from '../api/session.ts';
import { RowActions } from '../components/actions.tsx';
import { Creation } from '../components/creation.tsx';
import { Options } from '../components/options.tsx';
import { t } from '../i18n/words.ts';

type Kind = 'customer' | 'project';

const list = 'user-invitations';

/** The address of the invitation page, for the mail. */
const linkTemplate = `${location.href.replace(/[?#].*$/, '')}#/invitation/{uuid}/`;

/**
 * The button that invites a person, and its dialog. `item` is the customer or project of the page: a customer's page invites to
 * its projects, and to the customer if the user may grant roles there.
 */
export function Invite({
  item,
  kind,
  isPrimary = false,
  onCreated,
}: {
  readonly item?: Item;
  readonly kind?: Kind;
  readonly isPrimary?: boolean;
  readonly onCreated?: () => Promise<void>;
}): JSX.Element | null {
  const [chosen, setChosen] = useState<Kind>('project');
  const collection = collections.value.get(list);
  if (!collection) return null;
  const isChoice = kind !== 'project' && mayGrantInCustomers();
  const target = isChoice ? chosen : 'project';
  return (
    <Creation
      collection={collection}
      button={t('Invite')}
      isPrimary={isPrimary}
      fixed={{ link_template: linkTemplate, ...(item && kind === target && { [kind]: textOf(item, 'url') }) }}
      adapt={fieldsFor(target, kind === 'customer' ? textOf(item ?? {}, 'uuid') : '')}
      {...(onCreated && { onCreated })}
    >
      {isChoice && (
        <Options
          label={t('Access to')}
          options={[
            { value: 'project', title: t('A project') },
            { value: 'customer', title: t('A customer'), sub: t('And all of its projects') },
          ]}
          value={chosen}
          onInput={(value) => setChosen(value === 'customer' ? value : 'project')}
        />
      )}
    </Creation>
  );
}

/** Returns the fields of an invitation to a project or customer; only the projects of `customer` if it is set. */
const fieldsFor =
  (target: Kind, customer: string) =>
  (fields: readonly FormField[]): readonly FormField[] =>
    fields.flatMap((field): readonly FormField[] => {
      if (field.name === 'civil_number') return [{ ...field, isFolded: true }];
      if (![`${target}_role`, target, 'email'].includes(field.name)) return [];
      const list = target === 'project' && customer !== '' ? `${field.list}?customer=${customer}` : field.list;
      return [{ ...field, isRequired: true, ...(field.name === target && { list }) }];
    });

/** Titles of invitation actions. */
export const invitationActions = (): Readonly<Record<string, string>> => ({ send: t('Resend'), cancel: t('Revoke') });

/** The row actions of an invitation. */
export function InvitationActions({ invitation }: { readonly invitation: Item }): JSX.Element | null {
  const collection = collections.value.get('user-invitations');
  if (!collection) return null;
  return (
    <RowActions
      path={pathOf(textOf(invitation, 'url')).slice('/api'.length)}
      item={invitation}
      etag={null}
      collection={{ ...collection, actions: ['send', 'cancel'] }}
      titles={invitationActions()}
      reload={async () => undefined}
    />
  );
}
