/**
 * The languages of this browser as `Intl` accepts them. Some browsers read them from the environment, such as `en-US@posix`
 * or `et_EE.UTF-8`, which every formatter rejects.
 */

/** Removes the suffix of an environment from a language tag; undefined if `Intl` rejects the rest. */
function validTag(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag.replace(/[.@].*$/s, '').replaceAll('_', '-'))[0];
  } catch {
    return undefined;
  }
}

/** The preferred languages, such as `en-GB`, the most preferred first. */
export const browserLanguages: readonly string[] = navigator.languages.flatMap((tag) => validTag(tag) ?? []);

// uPlot creates a formatter with this language while it loads.
if (validTag(navigator.language) !== navigator.language)
  Object.defineProperty(navigator, 'language', { value: browserLanguages[0] ?? 'en' });
