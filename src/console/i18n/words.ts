/**
 * The language of the pages. `t` translates the console's English texts: `et.json` has the Estonian translations. Server texts
 * are in `et-server.json`. Both are in one bundle that is loaded only for Estonian.
 */
import { computed, effect, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { ownValue } from '../item.ts';
import { browserLanguages } from './browser-languages.ts';
import { englishOf, englishOfAction } from './english.ts';
import { type Catalogue, lookupIn, partsOf, type Values } from './lookup.ts';
import { serverTextTranslator, translateChanges } from './server-texts.ts';

/** The native names of the languages. */
export const languages = { en: 'English', et: 'Eesti' } as const;

export type Language = keyof typeof languages;

const storageKey = 'tenantry language';

const languageOf = (text: unknown): Language | undefined => (text === 'en' || text === 'et' ? text : undefined);

/** The language chosen in this browser. */
const chosen = signal(languageOf(localStorage.getItem(storageKey)));

/** The preferred language of the signed-in user. */
const preferred = signal<Language | undefined>(undefined);

/** Returns the primary language of a tag, such as `en` of `en-GB`. */
const primaryOf = (tag: string): string => tag.split('-', 1)[0] ?? '';

const ofBrowser = browserLanguages.map((tag) => languageOf(primaryOf(tag))).find(Boolean);

/** The language to use: chosen in this browser, from the user's profile, or from the browser. */
const targetLanguage = computed<Language>(() => chosen.value ?? preferred.value ?? ofBrowser ?? 'en');

type Translator = (text: string) => string | undefined;

/** The Estonian texts; undefined until loaded. */
const estonian = signal<{ readonly inConsole: Translator; readonly ofServer: Translator } | undefined>(undefined);

/** The current language, which is English until the texts of `targetLanguage` are loaded. */
export const language = computed<Language>(() => (targetLanguage.value === 'et' && estonian.value ? 'et' : 'en'));

let loading: Promise<void> | undefined;

/** Loads the texts of `targetLanguage`. On failure, the page stays English and the next call tries again. */
export async function loadLanguage(): Promise<void> {
  if (targetLanguage.value !== 'et' || estonian.value) return;
  loading ??= new Promise<void>((settle) => {
    const script = Object.assign(document.createElement('script'), { src: 'console/et.js' });
    for (const end of ['load', 'error']) script.addEventListener(end, () => settle());
    document.head.append(script);
  });
  await loading;
  loading = undefined;
  const loaded = (globalThis as { estonian?: Catalogue }).estonian;
  if (!loaded) return;
  const inConsole = lookupIn(loaded.console);
  estonian.value = { inConsole, ofServer: serverTextTranslator(loaded.server, (text) => inConsole(text) ?? text) };
}

effect(() => {
  document.documentElement.lang = language.value;
});

/** Sets the language of this browser. */
export function chooseLanguage(chosenLanguage: Language): void {
  localStorage.setItem(storageKey, chosenLanguage);
  chosen.value = chosenLanguage;
  void loadLanguage();
}

/** Applies the language of a user's profile. An unknown language resets it. */
export async function preferLanguage(preferredLanguage: unknown): Promise<void> {
  preferred.value = languageOf(preferredLanguage);
  await loadLanguage();
}

const translate = (text: string): string =>
  language.value === 'et' ? (estonian.value?.inConsole(text) ?? text) : text;

/** Translates a text and formats its numbers. A text without a translation stays English. */
export const t = (text: string, values: Values = {}): string => phrase(text, values).join('');

/** Like `t`, with elements as values. */
export function phrase<T extends ComponentChildren>(text: string, values: Readonly<Record<string, T>>): (T | string)[] {
  return partsOf(translate(text)).map((part, index) => {
    if (index % 2 === 0) return part;
    const value = ownValue(values, part);
    return typeof value === 'number' ? numberText(value) : (value ?? `{${part}}`);
  });
}

/** Translates a count as `{count}`: `one` for one, `other` for any other number. */
export const plural = (count: number, one: string, other: string): string =>
  t(pluralRules.value.select(count) === 'one' ? one : other, { count });

const serverTextInEstonian = (text: string): string | undefined => estonian.value?.ofServer(text);

/** Translates a server text. An unknown text stays unchanged. */
export const serverText = (text: string): string =>
  language.value === 'et' ? (serverTextInEstonian(text) ?? text) : text;

/** Translates the sentences about field changes at the end of an event message. */
export const changesText = (text: string): string =>
  language.value === 'et' ? translateChanges(text, translate) : text;

/** Returns the language of an untranslated server text if it differs from the page's. */
export const serverTextLanguage = (text: string): 'en' | undefined =>
  language.value === 'et' && serverTextInEstonian(text) === undefined ? 'en' : undefined;

/** Returns the title of an API name. */
export const titleOf = (name: string): string => t(englishOf(name));

/** Returns the title of an action by its name. `title` is its title in OPTIONS. */
export const actionTitle = (name: string, title?: string): string => t(englishOfAction(name, title));

/** The current language with the browser's region, such as `en-GB`, if it has one. */
const locale = computed(() => browserLanguages.find((tag) => primaryOf(tag) === language.value) ?? language.value);

const pluralRules = computed(() => new Intl.PluralRules(locale.value));
/** Formats a value in the current locale. */
export const inLocale = (format: (locale: string) => string): string => format(locale.value);

const numbers = computed(() => new Intl.NumberFormat(locale.value));
const times = computed(() => new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', timeStyle: 'short' }));
const regions = computed(() => new Intl.DisplayNames(locale.value, { type: 'region' }));
const collator = computed(() => new Intl.Collator(locale.value));

/** Formats a number. With `isShort`, abbreviates large ones, such as `25K`. */
export const numberText = (value: number, isShort = false): string =>
  isShort ? new Intl.NumberFormat(locale.value, { notation: 'compact' }).format(value) : numbers.value.format(value);

export const timeText = (instant: string | number): string => times.value.format(new Date(instant));

/** Formats parts of an instant. */
export const instantText = (instant: number, parts: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat(locale.value, parts).format(instant);

/** Formats an amount with its unit, such as `30 seconds`. */
export const amountText = (count: number, unit: 'second' | 'minute' | 'hour' | 'day'): string =>
  new Intl.NumberFormat(locale.value, { style: 'unit', unit, unitDisplay: 'long' }).format(count);

/** Returns the native name of a console language, or any other tag unchanged. */
export const languageText = (tag: string): string => {
  const known = languageOf(tag);
  return known ? languages[known] : tag;
};

/** Returns the name of a country by its two-letter code. */
export const countryText = (code: string): string => regions.value.of(code) ?? code;

/** Compares texts by the collation of the current language. */
export const compareTexts = (a: string, b: string): number => collator.value.compare(a, b);
