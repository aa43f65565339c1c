/**
 * The languages of this browser in a form that `Intl` accepts. Some browsers take them from the environment, such as
 * `en-US@posix` or `et_EE.UTF-8`, which every formatter rejects.
 */

/** Removes the POSIX suffix from a language tag. Returns undefined if `Intl` rejects the rest. */
function validTag(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag.replace(/[.@].*$/s, '').replaceAll('_', '-'))[0];
  } catch {
    return undefined;
  }
}

/** The languages in order of preference, such as `en-GB`. */
export const browserLanguages: readonly string[] = navigator.languages.flatMap((tag) => validTag(tag) ?? []);

// uPlot creates a formatter with this language when it loads.
if (validTag(navigator.language) !== navigator.language)
  Object.defineProperty(navigator, 'language', { value: browserLanguages[0] ?? 'en' });
