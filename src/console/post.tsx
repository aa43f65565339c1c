import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isItem, problemOf, request } from './api.ts';
import { notice } from './dialog.tsx';
import { refresh } from './reading.ts';
import { t } from './words/words.ts';

/** A button that posts nothing but its path, says what came of it, and has lists read again. */
export function PostButton({
  title,
  path,
  about,
}: {
  readonly title: string;
  readonly path: string;
  /** What it is done with, for those who do not see the row. */
  readonly about: string;
}): JSX.Element {
  const [isBusy, setBusy] = useState(false);
  return (
    <button
      type="button"
      class="outline small"
      aria-label={`${title}: ${about}`}
      aria-busy={isBusy}
      disabled={isBusy}
      onClick={async () => {
        setBusy(true);
        const { body, isOk } = await request<unknown>('POST', path);
        setBusy(false);
        const told = isItem(body) ? problemOf(body) : '';
        notice.value = told || (isOk ? t('{title}: done.', { title }) : t('{title}: refused.', { title }));
        if (isOk) refresh();
      }}
    >
      {title}
    </button>
  );
}
