/** Formats values in the current language. */

import { isQuotaInMebibytes, quotaLabel } from '../i18n/labels.ts';
import { amountText, inLocale, numberText, t, titleOf } from '../i18n/words.ts';
import { type SizeUnit, sizeIn, sizeUnit } from './size.ts';
import { distance, durationParts } from './time.ts';

/** Formats an amount in MiB, such as `576 GiB`. */
export function sizeText(mib: number, unit: SizeUnit = sizeUnit(mib)): string {
  return `${numberText(sizeIn(mib, unit))} ${unit}`;
}

/** Formats the exact amount in MiB, for a tooltip. */
export const exactSizeText = (mib: number): string => `${numberText(mib)} MiB`;

/** Facts on one line; empty and missing ones are left out. */
export const joinedText = (texts: readonly (string | undefined)[]): string => texts.filter(Boolean).join(' · ');

/** A share of 1 as a percentage; `digits` decimals at most. */
export const percentText = (share: number, digits = 0, minDigits = 0): string =>
  inLocale((locale) =>
    new Intl.NumberFormat(locale, {
      style: 'percent',
      minimumFractionDigits: minDigits,
      maximumFractionDigits: digits,
    }).format(share),
  );

/** Formats an instant with date and time, such as `25 Nov 2026, 07:06`. */
export const exactTime = (instant: string | number): string =>
  inLocale((locale) =>
    new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(instant)),
  );

/** Formats the day of an instant, such as `18 Nov`, with the year unless it is the current one. */
export const dayText = (instant: string | number, now = Date.now()): string =>
  inLocale((locale) =>
    new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'short',
      ...(new Date(instant).getFullYear() !== new Date(now).getFullYear() && { year: 'numeric' }),
    }).format(new Date(instant)),
  );

/** Formats the month of an instant, such as `Aug 2025`. */
export const monthText = (instant: string | number, month: 'short' | 'long' = 'short'): string =>
  inLocale((locale) => new Intl.DateTimeFormat(locale, { month, year: 'numeric' }).format(new Date(instant)));

/** Formats an instant: relative within seven days, otherwise by day or month (`47 min ago`, `18 Nov`, `Aug 2025`). */
export function relativeTime(instant: string | number, now = Date.now()): string {
  const time = new Date(instant).getTime();
  const far = distance(time, now);
  if (far.kind === 'now') return t('just now');
  if (far.kind === 'day') return dayText(time, now);
  if (far.kind === 'month') return monthText(time);
  return inLocale((locale) =>
    new Intl.RelativeTimeFormat(locale, { style: 'narrow' }).format(
      far.kind === 'past' ? -far.count : far.count,
      far.unit,
    ),
  );
}

/** Formats a duration in seconds, such as `31 ms`, `2 s` or `14 min`. */
export function durationText(seconds: number): string {
  const { count, unit } = durationParts(seconds);
  return inLocale((locale) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: unit === 'day' ? 'long' : 'short' }).format(
      count,
    ),
  );
}

/** Formats a lifetime in seconds in long form, such as `1 hour`. */
export function lifetimeText(seconds: number): string {
  const { count, unit } = durationParts(seconds);
  return unit === 'millisecond' ? durationText(seconds) : amountText(count, unit);
}

/** Shortens a long id in the middle, such as `01a13a29…4c38`. */
export const shortId = (id: string): string => (id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id);

/** Returns the initials of a name, at most two. */
export function initials(name: string): string {
  const words = name
    .replace(/[(),.&]/g, ' ')
    .split(/\s+/)
    .filter((word) => /^\p{L}/u.test(word));
  const picked = words.length > 1 ? [words[0], words[1]] : [words[0]];
  const text = picked.map((word) => word?.charAt(0) ?? '').join('');
  return (text.length > 1 ? text : (words[0] ?? name).slice(0, 2)).toUpperCase();
}

/** A usage and its limit in the same unit, such as `44 of 50 GiB`. */
interface QuotaText {
  readonly used: string;
  /** The amount that a form would add; empty for none. */
  readonly more: string;
  /** The text after the used amount: `of 50 GiB` or `no limit`. */
  readonly limit: string;
  readonly remainder: string;
}

/** Formats a quota by its name. A limit of -1 means none. `added` is the amount that a form would add to its usage. */
export function quotaText(name: string, usage: number, limit: number, added = 0): QuotaText {
  const isSize = isQuotaInMebibytes(name);
  const after = usage + added;
  if (limit < 0) {
    const text = (value: number): string => (isSize ? sizeText(value) : numberText(value));
    return { used: text(usage), more: added > 0 ? text(added) : '', limit: t('no limit'), remainder: '' };
  }
  const unit = sizeUnit(Math.max(limit, after));
  const text = (value: number): string => (isSize ? sizeText(value, unit) : numberText(value));
  const short = (value: number): string => numberText(isSize ? sizeIn(value, unit) : value);
  return {
    used: short(usage),
    more: added > 0 ? short(added) : '',
    limit: t('of {limit}', { limit: text(limit) }),
    remainder: after >= limit ? t('Limit reached') : t('{amount} left', { amount: text(limit - after) }),
  };
}

/** Formats an amount of a quota with its unit. */
export const quotaAmountText = (name: string, amount: number): string =>
  isQuotaInMebibytes(name) ? sizeText(amount) : numberText(amount);

/** Returns the name of a quota. */
export const quotaTitle = (name: string): string => t(quotaLabel(name) ?? name);

/** Joins names in the style of the current language. */
export const listText = (names: readonly string[]): string =>
  inLocale((locale) => new Intl.ListFormat(locale, { type: 'unit', style: 'short' }).format(names));

/** Lowercases a label for use in a sentence, such as `user data`, except abbreviations. */
export const plainLabel = (label: string): string =>
  /^\p{Lu}\p{Ll}/u.test(label) && !/^\p{Lu}\p{Ll}+\p{Lu}/u.test(label)
    ? label.charAt(0).toLowerCase() + label.slice(1)
    : label;

/** Returns the title of a list without its provider, such as `Private clouds`. */
export const plainTitle = (list: string): string =>
  titleOf(list).replace(/^(?:OpenStack|GitLab|JIRA|Oracle) (\p{L})/u, (_, letter: string) => letter.toUpperCase());

/** Returns the display text of an API enum value. */
export const choiceText = (name: string): string =>
  /^[a-z]+(_[a-z]+)+$|^(customers|projects|resources|ssh|users)$/.test(name) ? titleOf(name) : t(name);

/** Removes case and accents. */
export const foldText = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();

/** Whether a title contains every word of a text. */
export const hasWords = (title: string, text: string): boolean =>
  foldText(text)
    .split(/\s+/)
    .every((word) => foldText(title).includes(word));
