/**
 * The language of the pages. `t` translates every text of the console: the source is in English, `et.json` has the Estonian
 * translations. Texts of the server are in `et-server.json`.
 */
import { computed, effect, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { ownValue } from '../own.ts';
import { browserLanguages } from './browser-languages.ts';
import { englishOf, englishOfAction } from './english.ts';
import estonian from './et.json' with { type: 'json' };
import { lookupIn, partsOf, type Values } from './lookup.ts';
import { serverTextTranslator, serverWords } from './server-texts.ts';

/** Every language by what it calls itself. */
export const languages = { en: 'English', et: 'Eesti' } as const;

export type Language = keyof typeof languages;

const storageKey = 'tenantry language';

const languageOf = (text: unknown): Language | undefined => (text === 'en' || text === 'et' ? text : undefined);

/** The choice of this browser. */
const chosen = signal(languageOf(localStorage.getItem(storageKey)));

/** The preferred language of who is signed in. */
const preferred = signal<Language | undefined>(undefined);

/** The language that a tag of the browser begins with, `en` of `en-GB`. */
const primaryOf = (tag: string): string => tag.split('-', 1)[0] ?? '';

const ofBrowser = browserLanguages.map((tag) => languageOf(primaryOf(tag))).find(Boolean);

/** The present language: the one that was chosen here, that of the user's profile, that of the browser. */
export const language = computed<Language>(() => chosen.value ?? preferred.value ?? ofBrowser ?? 'en');

effect(() => {
  document.documentElement.lang = language.value;
});

/** Chooses a language for this browser. */
export function chooseLanguage(wanted: Language): void {
  localStorage.setItem(storageKey, wanted);
  chosen.value = wanted;
}

/** Follows the profile of a user; an unknown language resets it. */
export function preferLanguage(wanted: unknown): void {
  preferred.value = languageOf(wanted);
}

const inEstonian = lookupIn(estonian);

const said = (text: string): string => (language.value === 'et' ? (inEstonian(text) ?? text) : text);

/** Says a text in the present language, numbers as they are written in it. A text that is not known stays as it is. */
export const t = (text: string, values: Values = {}): string => phrase(text, values).join('');

/** The same with anything that can be shown in the places of the values. */
export function phrase<T extends ComponentChildren>(text: string, values: Readonly<Record<string, T>>): (T | string)[] {
  return partsOf(said(text)).map((part, index) => {
    if (index % 2 === 0) return part;
    const value = ownValue(values, part);
    return typeof value === 'number' ? numberText(value) : (value ?? `{${part}}`);
  });
}

/** Says how many of something there are, with the number as `{count}`: `one` for one, `other` for any other number. */
export const plural = (count: number, one: string, other: string): string =>
  t(pluralRules.value.select(count) === 'one' ? one : other, { count });

const serverTextInEstonian = serverTextTranslator(serverWords, said);

/** Translates a text of the server; an unknown text stays as it is. */
export const serverText = (text: string): string =>
  language.value === 'et' ? (serverTextInEstonian(text) ?? text) : text;

/** The language that `serverText` leaves a text in, where it is not that of the page. */
export const serverTextLanguage = (text: string): 'en' | undefined =>
  language.value === 'et' && serverTextInEstonian(text) === undefined ? 'en' : undefined;

/** A name of the API in words. */
export const titleOf = (name: string): string => t(englishOf(name));

/** The title of an action by its name; `title` is what OPTIONS calls it. */
export const actionTitle = (name: string, title?: string): string => t(englishOfAction(name, title));

/** The present language as the user of this browser writes it, such as `en-GB`; else without a region. */
const locale = computed(() => browserLanguages.find((tag) => primaryOf(tag) === language.value) ?? language.value);

const pluralRules = computed(() => new Intl.PluralRules(locale.value));
/** Formats something with the locale of the page. */
export const inLocale = (format: (locale: string) => string): string => format(locale.value);

const numbers = computed(() => new Intl.NumberFormat(locale.value));
const times = computed(() => new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', timeStyle: 'short' }));
const regions = computed(() => new Intl.DisplayNames(locale.value, { type: 'region' }));
const collator = computed(() => new Intl.Collator(locale.value));

/** A number as it is written; a large one may be shortened, such as `25K`. */
export const numberText = (value: number, isShort = false): string =>
  isShort ? new Intl.NumberFormat(locale.value, { notation: 'compact' }).format(value) : numbers.value.format(value);

export const timeText = (instant: string | number): string => times.value.format(new Date(instant));

/** Some parts of an instant. */
export const instantText = (instant: number, parts: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat(locale.value, parts).format(instant);

/** So many of a unit, such as `30 seconds`. */
export const amountText = (count: number, unit: 'second' | 'minute' | 'hour' | 'day'): string =>
  new Intl.NumberFormat(locale.value, { style: 'unit', unit, unitDisplay: 'long' }).format(count);

/** What a language of the console calls itself; any other tag stays as it is. */
export const languageText = (tag: string): string => {
  const known = languageOf(tag);
  return known ? languages[known] : tag;
};

/** The country of a code of two letters. */
export const countryText = (code: string): string => regions.value.of(code) ?? code;

/** Compares texts in the order of the present language. */
export const inOrder = (a: string, b: string): number => collator.value.compare(a, b);
