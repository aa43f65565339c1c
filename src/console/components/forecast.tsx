/** When a quota will be full at its present pace. */
import type { JSX } from 'preact';
import { useRequest } from '../api/reading.ts';
import { daysUntilFull } from '../format/numbers.ts';
import { dayText } from '../format/text.ts';
import { t } from '../i18n/words.ts';
import { type Item, isItem, pathOf, textOf } from '../item.ts';

const daySeconds = 24 * 3600;

/** The pace is that of so many days. */
const paceDays = 30;

/** The day on which a quota will be full, after the text of its meter; nothing where its usage does not rise. */
export function Forecast({ quota }: { readonly quota: Item }): JSX.Element | null {
  // To the day, so that a refresh reads the same.
  const point = (Math.floor(Date.now() / 1000 / daySeconds) - paceDays) * daySeconds;
  const path = pathOf(textOf(quota, 'url'));
  const { value: response } = useRequest<readonly Item[]>('GET', `${path}history/?point=${point}`);
  const [first] = response?.isOk ? response.body : [];
  const before = isItem(first?.object) ? Number(first.object.usage) : Number.NaN;
  const days = daysUntilFull(before, Number(quota.usage), Number(quota.limit), paceDays);
  if (days === undefined) return null;
  return <> · {t('full around {day}', { day: dayText(Date.now() + days * daySeconds * 1000) })}</>;
}
