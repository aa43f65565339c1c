/** States: a badge in headers and cards, a dot with a word in tables. */
import type { ComponentChildren, JSX } from 'preact';
import { statusOf, statusOfWord, type Tone } from '../format/status.ts';
import { t } from '../i18n/words.ts';
import type { Item } from '../item.ts';
import { Icon } from './icons.tsx';

/** A badge: an icon and a word. */
export const Badge = ({
  tone,
  icon = tone,
  children,
}: {
  readonly tone?: Tone | 'accent' | undefined;
  readonly icon?: string | undefined;
  readonly children: ComponentChildren;
}): JSX.Element => (
  <span class={`badge ${tone ?? 'line'}`}>
    {icon && <Icon name={icon} />}
    {children}
  </span>
);

/** A dot and a word. */
export const Dot = ({
  tone,
  isQueued = false,
  children,
}: {
  readonly tone: Tone;
  readonly isQueued?: boolean | undefined;
  readonly children: ComponentChildren;
}): JSX.Element => (
  <span class={`status ${tone}`}>
    <span class={`dot ${tone}${isQueued ? ' hollow' : ''}`} />
    {children}
  </span>
);

/** The status of an object as a badge, for headers. */
export const StatusBadge = ({ item }: { readonly item: Item }) => {
  const { tone, word } = statusOf(item);
  return <Badge tone={tone}>{t(word)}</Badge>;
};

/** The status of an object as a dot and a word, for tables and lists. */
export const StatusText = ({ item }: { readonly item: Item }) => {
  const { isQueued, tone, word } = statusOf(item);
  return (
    <Dot tone={tone} isQueued={isQueued}>
      {t(word)}
    </Dot>
  );
};

/** A word of the API that is a state, such as `delivered` or `Warning`, as a badge. */
export const WordBadge = ({ word }: { readonly word: string }) => {
  const status = statusOfWord(word);
  return <Badge tone={status.tone}>{t(status.word)}</Badge>;
};

/** A state from the API as a dot and a word. */
export function WordStatus({ word }: { readonly word: string }): JSX.Element {
  const { isQueued, tone, word: text } = statusOfWord(word);
  return (
    <Dot tone={tone} isQueued={isQueued}>
      {t(text)}
    </Dot>
  );
}

/** Marks simulated objects. */
export const SimulatedBadge = (): JSX.Element => <Badge icon="simulated">{t('Simulated')}</Badge>;
