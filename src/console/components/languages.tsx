import type { JSX } from 'preact';
import { chooseLanguage, type Language, language, languages } from '../i18n/words.ts';

const names: readonly Language[] = ['en', 'et'];

/** Buttons for the other languages, labelled with their native names. */
export function Languages(): JSX.Element {
  return (
    <>
      {names
        .filter((name) => name !== language.value)
        .map((name) => (
          <button key={name} type="button" class="btn quiet sm" lang={name} onClick={() => chooseLanguage(name)}>
            {languages[name]}
          </button>
        ))}
    </>
  );
}
