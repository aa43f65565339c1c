/** How values are shown: always as text, links only to pages of the console and to http addresses. */
import type { ComponentChildren, JSX } from 'preact';
import { type Item, isItem, itemsIn, pathOf, textOf } from '../api/api.ts';
import { choiceText } from '../api/fields.ts';
import { hrefOfLink } from '../api/route.ts';
import { languageOfTold, numberText, t, timeText, titleOf, told } from '../i18n/words.ts';
import { Icon } from './icons.tsx';
import { HiddenSecret, isSecret } from './secret.tsx';

export function Time({ value }: { readonly value: string }): JSX.Element {
  return (
    <time dateTime={value} title={value}>
      {timeText(value)}
    </time>
  );
}

/** Whether a text is an instant as the API writes them. */
export const isInstant = (value: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value);
/** What the server says, in the present language where it is known. */
export const Told = ({ text }: { readonly text: string }): JSX.Element => (
  <span class="text" lang={languageOfTold(text)}>
    {told(text)}
  </span>
);

/** Values that are sentences of the server. */
const toldNames = new Set(['message', 'error_message']);

/** Whether a text is a link to an object of the API. */
export const isObjectLink = (value: string): boolean =>
  /^https?:\/\/[^?]*\/api\/[a-z0-9-]+\/[0-9a-f]+\/(deliveries\/[0-9a-f]+\/)?$/.test(value);

/** Whether a text is an address that may be followed. */
const isWebAddress = (value: string): boolean => {
  try {
    return /^https?:$/.test(new URL(value).protocol);
  } catch {
    return false;
  }
};

/** What people call an object. */
export function nameOf(item: Item): string {
  const names = [
    'full_name',
    'name',
    'username',
    'display_name',
    'message',
    'email',
    'destination_url',
    'device_model',
    'key',
    'address',
    'title',
    'subject',
    'operation',
    'user_agent',
  ];
  const own = names
    .map((name) => (toldNames.has(name) ? told(textOf(item, name)) : textOf(item, name)))
    .find((text) => text !== '');
  if (own !== undefined) return own.startsWith('nc_') ? titleOf(own) : own;
  const user = textOf(item, 'user_full_name') || textOf(item, 'user_username');
  return user || textOf(item, 'project_name') || textOf(item, 'uuid').slice(0, 8) || textOf(item, 'pk') || t('Object');
}

/** An object as a link to its page, where it has one. */
export function ObjectLink({ item }: { readonly item: Item }): JSX.Element {
  const url = textOf(item, 'url');
  return url === '' ? <span>{nameOf(item)}</span> : <a href={hrefOfLink(url)}>{nameOf(item)}</a>;
}

/** Which role in what. */
export const roleIn = (role: string, place: string): string => t('{role} of {place}', { role: t(role), place });

const tones: readonly (readonly [tone: string, states: RegExp])[] = [
  ['good', /^(ok|in sync|active|online|running|up|accepted|delivered)$/i],
  ['bad', /erred|error|failed|critical/i],
  ['busy', /scheduled|ing$|warning|pending|canceled|expired/i],
];

/** What has a picture of its own. */
const severities = new Set(['Error', 'Warning', 'Info', 'Debug']);

/** A state, with a colour that says the same as its word. */
export function State({ value }: { readonly value: string }): JSX.Element {
  const [tone = 'plain'] = tones.find(([, states]) => states.test(value)) ?? [];
  return (
    <span class={`state ${tone}`}>
      <Icon name={severities.has(value) ? value : tone} />
      {t(value)}
    </span>
  );
}

/** Whether an operation is under way, so that the state will soon be another. */
export const isPassing = (state: string): boolean => /scheduled|ing$/i.test(state);

/** What has one of a few values without being a state. */
const chosenNames = new Set(['role', 'event_type', 'registration_method', 'alert_type', 'method']);

/** What is written in sentences, which are hard to read in a narrow column. */
export const isSentence = (name: string): boolean => ['message', 'error_message', 'description'].includes(name);

const stateNames = new Set([
  'state',
  'runtime_state',
  'service_settings_state',
  'severity',
  'level',
  'status',
  'validation_state',
]);

/** A value by its kind; `name` is its key, and `item` the object that it is of, which may name what a link leads to. */
export function Value({
  name,
  value,
  item = {},
}: {
  readonly name: string;
  readonly value: unknown;
  readonly item?: Item;
}): JSX.Element {
  if (value === null || value === undefined || value === '') return <span class="none">–</span>;
  if (isSecret(name, value)) return <HiddenSecret name={name} value={value} />;
  if (typeof value === 'boolean') return <span>{value ? t('Yes') : t('No')}</span>;
  if (typeof value === 'number') return <span>{name === 'pk' ? value : numberText(value)}</span>;
  if (typeof value === 'string') {
    if (stateNames.has(name)) return <State value={value} />;
    if (chosenNames.has(name)) return <span>{choiceText(value)}</span>;
    if (toldNames.has(name)) return <Told text={value} />;
    if (isInstant(value)) return <Time value={value} />;
    if (isObjectLink(value)) return <a href={hrefOfLink(value)}>{textOf(item, `${name}_name`) || linkWords(value)}</a>;
    if (isWebAddress(value))
      return (
        <a href={value} rel="noopener noreferrer external">
          {value}
        </a>
      );
    return <span class={isSentence(name) ? 'text wide' : 'text'}>{value}</span>;
  }
  if (Array.isArray(value)) return <ManyValues name={name} values={value} />;
  if (isItem(value) && Object.keys(value).length === 0) return <span class="none">–</span>;
  return isItem(value) ? <Fields item={value} /> : <span>{String(value)}</span>;
}

/** What to call an object of which nothing but the link is known. */
const linkWords = (link: string): string => {
  const [, , list = '', key = ''] = pathOf(link).split('/');
  return `${titleOf(list)} ${key.slice(0, 8)}`;
};

function ManyValues({ name, values }: { readonly name: string; readonly values: readonly unknown[] }): JSX.Element {
  if (values.length === 0) return <span class="none">–</span>;
  const items = itemsIn(values);
  if (items.length < values.length) return <span class="text">{values.map(String).join(', ')}</span>;
  if (name === 'quotas') return <Quotas quotas={items} />;
  return (
    <ul>
      {items.map((item) => (
        <li key={textOf(item, 'url') || JSON.stringify(item)}>
          {textOf(item, 'url') || textOf(item, 'name') ? <ObjectLink item={item} /> : <Fields item={item} />}
        </li>
      ))}
    </ul>
  );
}

/** Names that are shown with the link they belong to, or say nothing to people. */
const isBeside = (name: string, item: Item): boolean => {
  const [, owner] = /^(.+)_(uuid|name|native_name|abbreviation)$/.exec(name) ?? [];
  return (
    name === 'url' || (owner !== undefined && typeof item[owner] === 'string' && isObjectLink(textOf(item, owner)))
  );
};

/** The members of an object, each with its label. */
export function Fields({
  item,
  hidden = [],
}: {
  readonly item: Item;
  /** Names of what stands elsewhere on the page. */
  readonly hidden?: readonly string[];
}): JSX.Element {
  return (
    <dl>
      {Object.entries(item)
        .filter(([name]) => !isBeside(name, item) && !hidden.includes(name))
        .map(([name, value]) => (
          <div key={name}>
            <dt>{titleOf(name)}</dt>
            <dd>
              <Value name={name} value={value} item={item} />
            </dd>
          </div>
        ))}
    </dl>
  );
}

/** The share of a limit that is used, from 0; undefined where there is no limit. */
export function shareOf(quota: Item): number | undefined {
  const { limit, usage } = quota;
  if (typeof limit !== 'number' || typeof usage !== 'number' || limit < 0) return undefined;
  return limit === 0 ? (usage > 0 ? 1 : 0) : usage / limit;
}

/** Quotas with their usages, those with a limit as bars. */
export function Quotas({ quotas }: { readonly quotas: readonly Item[] }): JSX.Element {
  return (
    <ul class="quotas">
      {quotas.map((quota) => (
        <Quota key={textOf(quota, 'url')} quota={quota} />
      ))}
    </ul>
  );
}

export function Quota({ quota, of }: { readonly quota: Item; readonly of?: Item }): JSX.Element {
  const share = shareOf(quota);
  const { limit, usage } = quota;
  const words =
    share === undefined
      ? numberText(Number(usage))
      : t('{usage} of {limit}', { usage: Number(usage), limit: Number(limit) });
  const title = titleOf(textOf(quota, 'name'));
  return (
    <li>
      <span>
        {textOf(quota, 'url') === '' ? title : <a href={hrefOfLink(textOf(quota, 'url'))}>{title}</a>}
        {of && (
          <>
            {': '}
            <ObjectLink item={of} />
          </>
        )}
      </span>
      <span>{words}</span>
      {share !== undefined && <progress aria-label={`${title}: ${words}`} max={1} value={Math.min(1, share)} />}
    </li>
  );
}

/** A part of a page, with what to say while it is read, when it could not be, and when there is nothing in it. */
export function Part({
  title,
  more,
  problem,
  isLoading = false,
  empty,
  children,
}: {
  readonly title: string;
  readonly more?: string | undefined;
  readonly problem?: string | undefined;
  readonly isLoading?: boolean;
  readonly empty?: string | undefined;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <section class="part" aria-label={title} aria-busy={isLoading}>
      <header>
        <h2>{title}</h2>
        {more && <a href={more}>{t('Show all')}</a>}
      </header>
      {problem ? <p class="problem">{problem}</p> : empty ? <p class="none">{empty}</p> : children}
    </section>
  );
}
