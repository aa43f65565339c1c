/** Forecasts when a quota will be full. */
import type { JSX } from 'preact';
import { useRequest } from '../api/reading.ts';
import { daysUntilFull } from '../format/numbers.ts';
import { dayText } from '../format/text.ts';
import { t } from '../i18n/words.ts';
import { type Item, isItem, pathOf, textOf } from '../item.ts';

const daySeconds = 24 * 3600;

/** Number of days that the trend is based on. */
const paceDays = 30;

/** The day on which a quota will be full. Renders nothing if its usage is not growing. */
export function Forecast({ quota }: { readonly quota: Item }): JSX.Element | null {
  // Round to the day, so that a refresh sends the same request.
  const point = (Math.floor(Date.now() / 1000 / daySeconds) - paceDays) * daySeconds;
  const path = pathOf(textOf(quota, 'url'));
  const { value: response } = useRequest<readonly Item[]>('GET', `${path}history/?point=${point}`);
  const [first] = response?.isOk ? response.body : [];
  const before = isItem(first?.object) ? Number(first.object.usage) : Number.NaN;
  const days = daysUntilFull(before, Number(quota.usage), Number(quota.limit), paceDays);
  if (days === undefined) return null;
  return <> · {t('full around {day}', { day: dayText(Date.now() + days * daySeconds * 1000) })}</>;
}
