/** The sentence of an event, alert or notification, with links to its objects. */
import type { JSX } from 'preact';
import { hrefOf } from '../api/route.ts';
import { sentenceOf } from '../format/sentences.ts';
import { type Item, textOf } from '../item.ts';
import { ServerText } from './values.tsx';

/** `isPlain`: without links, for text inside a link. */
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
