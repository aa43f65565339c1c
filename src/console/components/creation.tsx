import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, isItem, pathOf, problemOf, request, textOf } from '../api/api.ts';
import type { Collection } from '../api/document.ts';
import { type FormField, formFieldsOf } from '../api/fields.ts';
import { refresh, useRequest } from '../api/reading.ts';
import { go, hrefOfLink } from '../api/route.ts';
import { isStaff, roles } from '../api/session.ts';
import { sizeInput } from '../format/size.ts';
import { t } from '../i18n/words.ts';
import { Button } from './button.tsx';
import { useCapacity } from './capacity.ts';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { type Filled, narrowChoices, QuotaImpact, useQuotaOwners } from './quota-impact.tsx';
import { showSecretOf } from './secret.tsx';
import { notify } from './toast.tsx';
import { nameOf } from './values.tsx';

/** Returns the message after a creation. Points out simulated accounts, which accept any credentials. */
export const creationNotice = (created: Item): string => {
  const name = nameOf(created);
  return created.is_simulated === true
    ? t('{name} was created. It is simulated: nothing is created at a provider.', { name })
    : t('{name} was created.', { name });
};

/** The OPTIONS response of a list or object: the fields of each method or action. */
export interface Description {
  readonly description?: string;
  readonly actions?: Item;
}

/** Returns the methods that the caller may use (core.md 1.10); undefined if the server does not send them. */
export const permittedMethods = (headers: Headers): readonly string[] | undefined =>
  headers.get('X-Permitted')?.split(', ');

/** Roles by their words in the OpenAPI document. */
const words: readonly (readonly [word: string, role: string])[] = [
  ['owners', 'owner'],
  ['managers', 'manager'],
  ['administrators', 'admin'],
];

/**
 * Whether the user has any of the roles that a right names, in any object. The server checks the specific object. A right without
 * roles applies to any user.
 */
export function mayHaveRight(creators: string): boolean {
  const wanted = words.filter(([word]) => creators.includes(word));
  return isStaff.value || wanted.length === 0 || wanted.some(([, role]) => roles.value.has(role));
}

type AdaptFields = (fields: readonly FormField[]) => readonly FormField[];

/** A button that creates an object, for users with the right. */
export function Creation({
  collection,
  initialValues = {},
  fixed,
  button,
  isPrimary = false,
  isQuiet = false,
  adapt,
  children,
  onCreated,
}: {
  readonly collection: Collection;
  /** Initial values of the form. */
  readonly initialValues?: Item;
  /** Fixed values, for which the form has no fields. */
  readonly fixed?: Item;
  /** The text of the button and the title of the dialog. */
  readonly button?: string;
  /** Whether it is the main action of the page. */
  readonly isPrimary?: boolean;
  /** Whether the page has many such buttons. */
  readonly isQuiet?: boolean;
  /** Adapts the fields from the API for the form. */
  readonly adapt?: AdaptFields;
  /** Content above the form. */
  readonly children?: ComponentChildren;
  /** Runs after the creation. Default: opens the page of the new object. */
  readonly onCreated?: () => Promise<void>;
}): JSX.Element | null {
  const path = `/api/${collection.name}/`;
  const { value: response } = useRequest<Description>('OPTIONS', path);
  const [isOpen, setOpen] = useState(false);
  if (!response?.isOk || !collection.isCreatable) return null;
  const { actions } = response.body;
  const permitted = permittedMethods(response.headers);
  if (actions?.POST === undefined || permitted?.includes('POST') === false || !mayHaveRight(collection.creators))
    return null;
  return (
    <>
      <Button
        icon="create"
        kind={isPrimary ? 'primary' : undefined}
        small={isQuiet}
        opensDialog
        onClick={() => setOpen(true)}
      >
        {button ?? t('Create')}
      </Button>
      {isOpen && (
        <Dialog title={button ?? t('Create: {title}', { title: collection.title })} onClose={() => setOpen(false)}>
          {children}
          <CreationForm
            collection={collection}
            post={actions.POST}
            initialValues={initialValues}
            {...(fixed && { fixed })}
            {...(adapt && { adapt })}
            onCancel={() => setOpen(false)}
            onMade={async (created) => {
              setOpen(false);
              const url = textOf(created, 'url');
              if (onCreated) await onCreated();
              else if (url !== '' && collection.hasDetail) go(hrefOfLink(url).slice(1));
            }}
          />
        </Dialog>
      )}
    </>
  );
}

/** Fields of new resources under "More options". */
const moreOptions = new Set(['description', 'tags', 'user_data', 'availability_zone']);
/** Links whose objects are displayed as cards. */
const cardFields = new Set(['flavor', 'size', 'image']);

/** The form that creates an object. For a resource, shows its impact on quotas while the user fills it in. */
export function CreationForm({
  collection,
  post,
  initialValues = {},
  fixed = {},
  button = t('Create'),
  sectionOf,
  sectionTitles = [],
  adapt = (fields) => fields,
  onMade,
  onCancel,
}: {
  readonly collection: Collection;
  readonly button?: string;
  /** Returns the card title of a field, for forms with several cards. */
  readonly sectionOf?: (field: FormField) => string;
  /** The order of the cards. */
  readonly sectionTitles?: readonly string[];
  /** The metadata of POST from OPTIONS. */
  readonly post: unknown;
  readonly initialValues?: Item;
  /** Fixed values, for which the form has no fields. */
  readonly fixed?: Item;
  readonly adapt?: AdaptFields | undefined;
  readonly onMade: (created: Item) => Promise<void>;
  readonly onCancel?: () => void;
}): JSX.Element {
  const [typed, setTyped] = useState<Filled>({});
  const filled = { ...textsOf(initialValues), ...typed };
  const around = useQuotaOwners(filled);
  const withCapacity = useCapacity(collection.name, filled, around);
  const all = formFieldsOf(post, collection);
  const open = adapt(all).filter(({ name }) => !(name in fixed));
  const hasLink = (some: readonly FormField[]): boolean => some.some(({ name }) => name === 'service_project_link');
  const isByCloud = hasLink(all) && !hasLink(open);
  const fields = open.map((field) => ({
    ...withCapacity(narrowChoices(field, filled, around)),
    // Most users need neither JSON nor rare fields.
    isFolded:
      (field.isFolded || field.kind === 'json' || (sectionOf !== undefined && moreOptions.has(field.name))) &&
      !field.isRequired,
    isShownAsCards: sectionOf !== undefined && cardFields.has(field.name),
  }));
  return (
    <Form
      fields={requiredFirst(fields)}
      initialValues={initialValues}
      button={button}
      sectionOf={sectionOf}
      sectionTitles={sectionTitles}
      onTyped={(values) => setTyped(textsOf(values))}
      {...(onCancel && { onCancel })}
      send={async (body) => {
        const cloud = isByCloud && filled.tenant ? await request<Item>('GET', pathOf(filled.tenant)) : undefined;
        if (cloud && !cloud.isOk)
          return {
            ...cloud,
            body: { detail: t('The private cloud cannot be read: {reason}', { reason: problemOf(cloud.body) }) },
          };
        const created = await request<Item>('POST', `/api/${collection.name}/`, {
          body:
            body instanceof FormData
              ? body
              : { ...body, ...fixed, ...(cloud && { service_project_link: cloud.body.service_project_link }) },
        });
        if (!created.isOk && isByCloud && isItem(created.body))
          return { ...created, body: withProblemsOfCloud(created.body) };
        if (created.isOk) {
          notify(creationNotice(created.body));
          showSecretOf(created.body, nameOf(created.body));
          refresh();
          await onMade(created.body);
        }
        return created;
      }}
    >
      <QuotaImpact
        list={collection.name}
        filled={{ ...defaultsOf(fields), ...filled }}
        around={around}
        isByCloud={isByCloud}
      />
    </Form>
  );
}

/** Moves messages about the connection, for which the form has no field, to the private cloud. */
function withProblemsOfCloud({ service_project_link: problems, ...others }: Item): Item {
  return problems === undefined ? others : { ...others, tenant: [problems, others.tenant].flat().filter(Boolean) };
}

/** Returns the default sizes of fields. */
const defaultsOf = (fields: readonly FormField[]): Filled =>
  Object.fromEntries(
    fields
      .filter(({ fallback, kind }) => kind === 'size' && typeof fallback === 'number')
      .map(({ fallback, name }) => [name, sizeInput(Number(fallback))]),
  );

/** Returns only the string values. */
const textsOf = (values: Readonly<Record<string, unknown>>): Filled =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));

/** Sorts required fields first. */
const requiredFirst = (fields: readonly FormField[]): readonly FormField[] =>
  [...fields].sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
