/** Values to copy: ids, addresses, code. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { shortId } from '../format/text.ts';
import { t } from '../i18n/words.ts';
import { Icon } from './icons.tsx';

/** Copies a text. Returns whether the browser allowed it. Without https, it may not. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'unseen';
  const host = document.querySelector('dialog[open]') ?? document.body;
  host.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  return isCopied;
}

/** A button that copies a text. `what` names the text, such as "UUID". */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  return (
    <button
      type="button"
      class="copy"
      aria-label={isCopied ? t('Copied') : t('Copy {what}', { what })}
      title={isCopied ? t('Copied') : t('Copy')}
      onBlur={() => setCopied(false)}
      onClick={async () => setCopied(await copyText(text))}
    >
      <Icon name={isCopied ? 'acknowledge' : 'copy'} />
    </button>
  );
}

/** Code or an address, in a monospaced font, with a button that copies it. */
export const Code = ({ text, what }: { readonly text: string; readonly what: string }): JSX.Element => (
  <span class="copyable">
    <code>{text}</code>
    <CopyButton text={text} what={what} />
  </span>
);

/** Text of programs, such as JSON, in a box that scrolls. */
export const Source = ({ text, isTall }: { readonly text: string; readonly isTall?: boolean }): JSX.Element => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrollable element
  <pre class={isTall ? 'code tall' : 'code'} tabIndex={0}>
    {text}
  </pre>
);

/** An id, cut in the middle; copying gives all of it. */
export const Id = ({ id, what }: { readonly id: string; readonly what: string }): JSX.Element => (
  <span class="copyable">
    <code title={id}>{shortId(id)}</code>
    <CopyButton text={id} what={what} />
  </span>
);
