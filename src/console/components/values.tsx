/** Renders values by the format of their field. Links lead only to pages and http(s) URLs. */
import type { JSX } from 'preact';
import { listOf } from '../api/columns.ts';
import { useLinked } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { kindOfType } from '../format/kinds.ts';
import { programOf } from '../format/programs.ts';
import { sentenceOf, sentenceText } from '../format/sentences.ts';
import {
  choiceText,
  dayText,
  exactSizeText,
  exactTime,
  initials,
  lifetimeText,
  monthText,
  percentText,
  quotaTitle,
  relativeTime,
  sizeText,
} from '../format/text.ts';
import { fieldLabel } from '../i18n/labels.ts';
import { countryText, languageText, numberText, serverText, serverTextLanguage, t, titleOf } from '../i18n/words.ts';
import { type Item, isItem, itemsIn, ownValue, pathOf, textOf, userName } from '../item.ts';
import { Code, CopyButton, Id } from './copy.tsx';
import { HiddenSecret, isSecret } from './secret.tsx';
import { SimulatedBadge, StatusText, WordStatus } from './status.tsx';

/** A relative time with the exact time as its title, or the exact time itself with `exact`. */
export const Time = ({ value, exact = false }: { readonly value: string; readonly exact?: boolean }): JSX.Element => (
  <time dateTime={value} title={exact ? value : exactTime(value)}>
    {exact ? exactTime(value) : relativeTime(value)}
  </time>
);

/** An amount in MiB, in a suitable unit, with the exact amount as its title. */
const Size = ({ mib, exact = false }: { readonly mib: number; readonly exact?: boolean }): JSX.Element => (
  <span title={exactSizeText(mib)}>
    {sizeText(mib)}
    {exact && mib >= 1024 && <span class="muted"> ({exactSizeText(mib)})</span>}
  </span>
);

/** Whether a text is an instant in the API's format. */
export const isInstant = (value: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value);

/** A server text, translated if a translation exists. */
export const ServerText = ({ text }: { readonly text: string }): JSX.Element => (
  <span class="text" lang={serverTextLanguage(text)}>
    {serverText(text)}
  </span>
);

/** Whether a text is a link to an API object. */
export const isObjectLink = (value: string): boolean =>
  /^https?:\/\/[^?]*\/api\/[a-z0-9-]+\/[0-9a-f]+\/(deliveries\/[0-9a-f]+\/)?$/.test(value);

/** Whether a text is a safe URL for a link. */
const isWebAddress = (value: string): boolean => {
  try {
    return /^https?:$/.test(new URL(value).protocol);
  } catch {
    return false;
  }
};

/** Members that can name an object, by priority. */
const nameMembers = [
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
];

/** Members with sentences from the server. */
const serverTextMembers = new Set(['message', 'error_message']);

/** Shortens a URL to its host and path. */
const webText = ({ host, pathname }: URL): string => host + (pathname === '/' ? '' : pathname);

/** Returns the name of an object. */
export function nameOf(item: Item): string {
  if ('alert_type' in item || 'event_type' in item) return sentenceText(item);
  if ('user_agent' in item && 'is_current' in item) return programOf(item);
  const web = textOf(item, 'destination_url');
  if (URL.canParse(web)) return webText(new URL(web));
  const own = nameMembers
    .map((name) => (serverTextMembers.has(name) ? serverText(textOf(item, name)) : textOf(item, name)))
    .find((text) => text !== '');
  if (own !== undefined) return 'limit' in item && 'usage' in item ? quotaTitle(own) : own;
  return (
    userName(item) ||
    textOf(item, 'project_name') ||
    textOf(item, 'uuid').slice(0, 8) ||
    textOf(item, 'pk') ||
    t('Object')
  );
}

/** A link to the page of an object, if it has one. */
export function ObjectLink({ item }: { readonly item: Item }): JSX.Element {
  const url = textOf(item, 'url');
  return url === '' ? <span>{nameOf(item)}</span> : <a href={hrefOfLink(url)}>{nameOf(item)}</a>;
}

const avatarTones = ['accent', 't2', 't3', 't4'];

/** The initials of a person or customer, in a colour derived from the name. */
export function Avatar({
  name,
  isSquare = false,
  size,
}: {
  readonly name: string;
  readonly isSquare?: boolean;
  readonly size?: 'mid' | 'lg';
}): JSX.Element {
  const sum = [...name].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0);
  return (
    <span
      aria-hidden="true"
      class={['face', isSquare && 'square', size, avatarTones[sum % 4]].filter(Boolean).join(' ')}
    >
      {initials(name)}
    </span>
  );
}

/** Returns the name of a role with its customer or project. */
export const roleIn = (role: string, place: string): string => t('{role} of {place}', { role: t(role), place });

/** Whether a member contains sentences, which need wide columns. */
export const isSentence = (name: string): boolean => ['message', 'error_message', 'description'].includes(name);

/** Members whose values are translated words of the API. */
const wordMembers = new Set(['role', 'kind', 'event_type', 'registration_method', 'alert_type', 'method', 'hook_type']);

/** Backup sizes are in bytes, other sizes in MiB. */
const bytesPerMebibyte = 1024 ** 2;

const None = (): JSX.Element => <span class="none">–</span>;

/**
 * Renders a value by the format of its field. `item` is the object with the value, which may contain the name of a linked object.
 * `exact` shows times and sizes in full, for Details.
 */
export function Value({
  name,
  value,
  item = {},
  exact = false,
}: {
  readonly name: string;
  readonly value: unknown;
  readonly item?: Item;
  readonly exact?: boolean;
}): JSX.Element {
  if (value === null || value === undefined || value === '') return <None />;
  if (isSecret(name, value)) return <HiddenSecret name={name} value={value} />;
  const format = fieldLabel(name)?.format ?? '';
  if (format === 'badge' && name === 'is_simulated') return value === true ? <SimulatedBadge /> : <None />;
  if (typeof value === 'boolean') return <span>{value ? t('Yes') : t('No')}</span>;
  if (typeof value === 'number' && format === 'MiB' && listOf(item) === 'backups')
    return <Size mib={value / bytesPerMebibyte} exact={exact} />;
  if (typeof value === 'number') return <NumberValue format={format} value={value} exact={exact} />;
  if (typeof value === 'string')
    return <TextValue name={name} format={format} text={value} item={item} exact={exact} />;
  if (Array.isArray(value)) return <ManyValues name={name} values={value} />;
  if (!isItem(value) || Object.keys(value).length === 0) return <None />;
  if (name === 'sla' && typeof value.value === 'number') return <span>{percentText(value.value / 100, 2)}</span>;
  return <Details item={format === 'percent' ? sharesOf(value) : value} exact={exact} />;
}

/** Formats the members of an object as percentages. */
const sharesOf = (measured: Item): Item =>
  Object.fromEntries(Object.entries(measured).map(([name, value]) => [name, percentText(Number(value) / 100, 1)]));

function NumberValue({
  exact,
  format,
  value,
}: {
  readonly format: string;
  readonly value: number;
  readonly exact: boolean;
}): JSX.Element {
  switch (format) {
    case 'MiB':
      return <Size mib={value} exact={exact} />;
    case 'id':
    case 'plain number':
    case 'port':
      return <span>{value}</span>;
    case 'percent':
      return <span>{percentText(value / 100, 2)}</span>;
    case 'seconds':
      return <span>{lifetimeText(value)}</span>;
    case 'words':
      return <span>{visibilityText(value)}</span>;
    default:
      return <span>{numberText(value)}</span>;
  }
}

/** Returns the name of a GitLab visibility level. */
const visibilityText = (level: number): string =>
  ownValue({ 0: t('Private'), 10: t('Internal'), 20: t('Public') }, String(level)) ?? numberText(level);

interface TextProperties {
  readonly name: string;
  readonly format: string;
  readonly text: string;
  readonly item: Item;
  readonly exact: boolean;
}

function TextValue({ exact, format, item, name, text }: TextProperties): JSX.Element {
  if (format === 'state') return name === 'state' ? <StatusText item={item} /> : <WordStatus word={text} />;
  if (format === 'level') return <WordStatus word={text} />;
  if (serverTextMembers.has(name)) return <ServerText text={text} />;
  if (isInstant(text))
    return format === 'date' ? (
      <time dateTime={text} title={exactTime(text)}>
        {dayText(text)}
      </time>
    ) : (
      <Time value={text} exact={exact} />
    );
  if (format === 'month' && /^\d{4}-\d\d$/.test(text)) return <span>{monthText(`${text}-01T00:00:00`, 'long')}</span>;
  if (isObjectLink(text) && format !== 'id')
    return <a href={hrefOfLink(text)}>{textOf(item, `${name}_name`) || linkWords(text)}</a>;
  if (name === 'author_uuid') return <Person uuid={text} />;
  if (format === 'id' && !exact) return <Id id={text} what={titleOf(name)} />;
  if (format === 'id' || format === 'code') return <Code text={text} what={titleOf(name)} />;
  if (format === 'provider kind') return <span>{t(kindOfType(text).word)}</span>;
  if (format === 'country') return <span>{countryText(text)}</span>;
  if (format === 'language') return <span>{languageText(text)}</span>;
  if (format === 'role' || format === 'words' || wordMembers.has(name)) return <span>{choiceText(text)}</span>;
  if (isWebAddress(text))
    return (
      <span class="copyable">
        <a href={text} rel="noopener noreferrer external">
          {text}
        </a>
        <CopyButton text={text} what={titleOf(name)} />
      </span>
    );
  return <span class="text">{text}</span>;
}

/** A user that the API names only by uuid. */
function Person({ uuid }: { readonly uuid: string }): JSX.Element {
  const user = useLinked(`/api/users/${uuid}/`);
  return user ? <ObjectLink item={user} /> : <span>{uuid}</span>;
}

/** Derives a name for an object from its link. */
const linkWords = (link: string): string => {
  const [, , list = '', key = ''] = pathOf(link).split('/');
  return `${titleOf(list)} ${key.slice(0, 8)}`;
};

function ManyValues({ name, values }: { readonly name: string; readonly values: readonly unknown[] }): JSX.Element {
  if (values.length === 0) return <None />;
  const items = itemsIn(values);
  const format = fieldLabel(name)?.format;
  if (items.length < values.length) {
    const texts = values.map(String);
    if (format === 'tags')
      return (
        <span class="row tight">
          {texts.map((text) => (
            <span key={text} class="tag">
              {text}
            </span>
          ))}
        </span>
      );
    if (format === 'code')
      return (
        <span>
          {texts.map((text) => (
            <Code key={text} text={text} what={titleOf(name)} />
          ))}
        </span>
      );
    if (texts.every(isWebAddress))
      return (
        <span>
          {texts.map((text) => (
            <TextValue key={text} name={name} format="" text={text} item={{}} exact={false} />
          ))}
        </span>
      );
    return <span class="text">{texts.map(format === 'events' ? choiceText : String).join(', ')}</span>;
  }
  return (
    <ul>
      {items.map((item) => (
        <li key={textOf(item, 'url') || JSON.stringify(item)}>
          {textOf(item, 'url') || textOf(item, 'name') ? <ObjectLink item={item} /> : <Details item={item} />}
        </li>
      ))}
    </ul>
  );
}

/** Whether a link beside a member already shows its value. */
export const isShownByLink = (name: string, item: Item): boolean => {
  const [, owner] = /^(.+)_(uuid|name|native_name|abbreviation)$/.exec(name) ?? [];
  return owner !== undefined && typeof item[owner] === 'string' && isObjectLink(textOf(item, owner));
};

/** The members of an object as labelled facts. */
export function Details({
  item,
  hidden = [],
  names = Object.keys(item),
  exact = true,
}: {
  readonly item: Item;
  /** Members shown elsewhere on the page. */
  readonly hidden?: readonly string[];
  readonly names?: readonly string[];
  readonly exact?: boolean;
}): JSX.Element {
  return (
    <dl class="facts">
      {names
        .filter((name) => !isShownByLink(name, item) && !hidden.includes(name))
        .map((name) => (
          <>
            <dt key={`${name} label`}>{titleOf(name)}</dt>
            <dd key={name}>
              <Value name={name} value={item[name]} item={item} exact={exact} />
            </dd>
          </>
        ))}
    </dl>
  );
}

/** The sentence of an event, alert or notification. `isPlain`: without links, for text inside a link. */
export function Sentence({ item, isPlain = false }: { readonly item: Item; readonly isPlain?: boolean }): JSX.Element {
  const parts = sentenceOf(item);
  if (!parts) return <ServerText text={textOf(item, 'message')} />;
  return (
    <span class="text">
      {parts.map((part) =>
        typeof part === 'string' ? (
          part
        ) : isPlain ? (
          part.text
        ) : part.path === undefined ? (
          <b key={part.text}>{part.text}</b>
        ) : (
          <a key={part.text} href={hrefOf(part.path)}>
            {part.text}
          </a>
        ),
      )}
    </span>
  );
}
