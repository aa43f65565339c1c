/**
 * The languages of this browser as `Intl` takes them. Some browsers take them from the environment, such as `en-US@posix`
 * or `et_EE.UTF-8`, with which every formatter throws.
 */

/** A tag that `Intl` takes, without what the environment has put behind it; undefined where none is in it. */
function validTag(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag.replace(/[.@].*$/s, '').replaceAll('_', '-'))[0];
  } catch {
    return undefined;
  }
}

/** The preferred languages, such as `en-GB`, most wanted first. */
export const browserLanguages: readonly string[] = navigator.languages.flatMap((tag) => validTag(tag) ?? []);

// uPlot makes a formatter of this one while it loads.
if (validTag(navigator.language) !== navigator.language)
  Object.defineProperty(navigator, 'language', { value: browserLanguages[0] ?? 'en' });
