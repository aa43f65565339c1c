import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, request, textOf } from '../api/api.ts';
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
import { type Filled, narrowed, QuotaImpact, useQuotaOwners } from './quota-impact.tsx';
import { showSecretOf } from './secret.tsx';
import { notify } from './toast.tsx';
import { nameOf } from './values.tsx';

/** The message after a creation. It mentions the simulator, which accepts any credentials. */
export const creationNotice = (created: Item): string => {
  const name = nameOf(created);
  return created.is_simulated === true
    ? t('{name} was created. It is simulated: nothing is created at a provider.', { name })
    : t('{name} was created.', { name });
};

/** The response of OPTIONS for a list or an object: what each method or action takes. */
export interface Description {
  readonly description?: string;
  readonly actions?: Item;
}

/** The methods that the caller's rights allow, where the server sends them (core.md 1.10); undefined where it does not. */
export const permittedMethods = (headers: Headers): readonly string[] | undefined =>
  headers.get('X-Permitted')?.split(', ');

/** Roles by the words of the document. */
const words: readonly (readonly [word: string, role: string])[] = [
  ['owners', 'owner'],
  ['managers', 'manager'],
  ['administrators', 'admin'],
];

/**
 * Whether the user has any of the roles that a right names. Whether the user has it in the object of the body is
 * for the server to check; words without roles allow any user.
 */
export function mayEver(creators: string): boolean {
  const wanted = words.filter(([word]) => creators.includes(word));
  return isStaff.value || wanted.length === 0 || wanted.some(([, role]) => roles.value.has(role));
}

/** The address of the links in invitation mails, for the one list that takes it. */
const invitationLink = `${location.href.replace(/[?#].*$/, '')}#/invitation/{uuid}/`;

type Adapt = (fields: readonly FormField[]) => readonly FormField[];

/** The button that creates an object, for users who may. */
export function Creation({
  collection,
  given = {},
  button = t('Create'),
  isPrimary = false,
  isQuiet = false,
  adapt,
  onCreated,
}: {
  readonly collection: Collection;
  /** Values that the form begins with. */
  readonly given?: Item;
  readonly button?: string;
  /** Whether it is the main action of the page. */
  readonly isPrimary?: boolean;
  /** Whether the page has many of them. */
  readonly isQuiet?: boolean;
  /** Returns the fields of the form, from those of the API. */
  readonly adapt?: Adapt;
  /** Runs after the creation; default: open the page of the new object. */
  readonly onCreated?: () => Promise<void>;
}): JSX.Element | null {
  const path = `/api/${collection.name}/`;
  const { value: response } = useRequest<Description>('OPTIONS', path);
  const [isOpen, setOpen] = useState(false);
  if (!response?.isOk || !collection.isCreatedHere) return null;
  const { actions } = response.body;
  const permitted = permittedMethods(response.headers);
  if (actions?.POST === undefined || permitted?.includes('POST') === false || !mayEver(collection.creators))
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
        {button}
      </Button>
      {isOpen && (
        <Dialog title={t('Create: {title}', { title: collection.title })} onClose={() => setOpen(false)}>
          <CreationForm
            collection={collection}
            post={actions.POST}
            given={given}
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

/** Fields of new resources that stand behind "More options". */
const rare = new Set(['description', 'tags', 'user_data', 'availability_zone']);
/** Links whose objects are offered as cards. */
const cards = new Set(['flavor', 'size', 'image']);

/** The form that creates an object; of a resource it says as it is filled in what that takes of which quota. */
export function CreationForm({
  collection,
  post,
  given = {},
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
  /** The title of the card of a field, for a page of several cards. */
  readonly sectionOf?: (field: FormField) => string;
  /** The order of the cards. */
  readonly sectionTitles?: readonly string[];
  /** What OPTIONS says of POST. */
  readonly post: unknown;
  readonly given?: Item;
  /** Values that the page chooses: the form has no fields for them. */
  readonly fixed?: Item;
  readonly adapt?: Adapt;
  readonly onMade: (created: Item) => Promise<void>;
  readonly onCancel?: () => void;
}): JSX.Element {
  const [typed, setTyped] = useState<Filled>({});
  const filled = { ...textsOf(given), ...typed };
  const around = useQuotaOwners(filled);
  const withCapacity = useCapacity(collection.name, filled, around);
  const open = adapt(formFieldsOf(post, collection)).filter(({ name }) => !(name in fixed));
  const fields = open.map((field) => ({
    ...withCapacity(narrowed(field, filled, around)),
    // Most objects need neither.
    isFolded: (field.kind === 'json' || (sectionOf !== undefined && rare.has(field.name))) && !field.isRequired,
    isOfCards: sectionOf !== undefined && cards.has(field.name),
  }));
  return (
    <Form
      fields={startingWith(fields)}
      given={{ link_template: invitationLink, ...given }}
      button={button}
      sectionOf={sectionOf}
      sectionTitles={sectionTitles}
      onTyped={(values) => setTyped(textsOf(values))}
      {...(onCancel && { onCancel })}
      send={async (body) => {
        const created = await request<Item>('POST', `/api/${collection.name}/`, {
          body: body instanceof FormData ? body : { ...body, ...fixed },
        });
        if (created.isOk) {
          notify(creationNotice(created.body));
          showSecretOf(created.body, nameOf(created.body));
          refresh();
          await onMade(created.body);
        }
        return created;
      }}
    >
      <QuotaImpact list={collection.name} filled={{ ...defaultsOf(fields), ...filled }} around={around} />
    </Form>
  );
}

/** The sizes that fields begin with. */
const defaultsOf = (fields: readonly FormField[]): Filled =>
  Object.fromEntries(
    fields
      .filter(({ fallback, kind }) => kind === 'size' && typeof fallback === 'number')
      .map(({ fallback, name }) => [name, sizeInput(Number(fallback))]),
  );

/** Returns the values that are texts. */
const textsOf = (values: Readonly<Record<string, unknown>>): Filled =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));

/** Sorts required fields first. */
const startingWith = (fields: readonly FormField[]): readonly FormField[] =>
  [...fields].sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
