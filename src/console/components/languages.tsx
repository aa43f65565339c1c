import type { JSX } from 'preact';
import { chooseLanguage, type Language, language, languages } from '../i18n/words.ts';

const names: readonly Language[] = ['en', 'et'];

/** The way to the other languages, each called as it calls itself. */
export function Languages(): JSX.Element {
  return (
    <>
      {names
        .filter((name) => name !== language.value)
        .map((name) => (
          <button
            key={name}
            type="button"
            class="outline secondary language"
            lang={name}
            onClick={() => chooseLanguage(name)}
          >
            {languages[name]}
          </button>
        ))}
    </>
  );
}
