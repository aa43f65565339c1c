/** Checks which flavors, sizes and images fit a new resource, and why others do not. */
import { type Item, itemsIn, textOf } from '../api/api.ts';
import type { FormField } from '../api/fields.ts';
import { useLinked } from '../api/reading.ts';
import { quotaAmountText, quotaTitle, sizeText } from '../format/text.ts';
import { t } from '../i18n/words.ts';
import { amountsOf, type Filled, type QuotaOwners } from './quota-impact.tsx';
import { nameOf } from './values.tsx';

/** Returns the first quota that a size would exceed, as a message. */
function quotaReason(list: string, filled: Filled, owners: readonly Item[], size: Item): string | undefined {
  const without = amountsOf(list, filled, undefined);
  for (const [name, amount] of Object.entries(amountsOf(list, filled, size))) {
    // Skip quotas whose amount does not depend on the size.
    if (amount <= (without[name] ?? 0)) continue;
    const remainders = owners
      .flatMap((owner) => itemsIn(owner.quotas))
      .filter((quota) => textOf(quota, 'name') === name && Number(quota.limit) >= 0)
      .map(({ limit, usage }) => Number(limit) - Number(usage));
    const rest = Math.min(...remainders);
    if (rest <= 0) return t('{quota}: limit reached', { quota: quotaTitle(name) });
    if (amount > rest)
      return t('{quota}: only {amount} left', { quota: quotaTitle(name), amount: quotaAmountText(name, rest) });
  }
  return undefined;
}

/** Returns why a size is too small for an image. */
function imageReason(size: Item, image: Item): string | undefined {
  if (Number(size.ram) < Number(image.min_ram ?? 0))
    return t('{image} needs {size} memory', { image: nameOf(image), size: sizeText(Number(image.min_ram)) });
  if (Number(size.disk) < Number(image.min_disk_size ?? 0))
    return t('{image} needs {size} disk', { image: nameOf(image), size: sizeText(Number(image.min_disk_size)) });
  return undefined;
}

/** Returns why an image does not fit the chosen size. */
function sizeReason(image: Item, size: Item): string | undefined {
  if (Number(size.ram) < Number(image.min_ram ?? 0))
    return t('{flavor} has only {size} memory', { flavor: nameOf(size), size: sizeText(Number(size.ram)) });
  if (Number(size.disk) < Number(image.min_disk_size ?? 0))
    return t('{flavor} has only {size} disk', { flavor: nameOf(size), size: sizeText(Number(size.disk)) });
  return undefined;
}

/** Returns the default size of the system volume: the flavor's disk or the image's minimum, whichever is larger. */
const systemSize = (size: Item, image: Item | undefined): number | undefined =>
  Math.max(Number(size.disk ?? 0), Number(image?.min_disk ?? 0)) || undefined;

/** Adds reasons for unavailable choices and the minimum volume size to the fields of a new resource. */
export function useCapacity(
  list: string,
  filled: Filled,
  { owners, size }: Pick<QuotaOwners, 'owners' | 'size'>,
): (field: FormField) => FormField {
  const image = useLinked(filled.image ?? '');
  return (field) => {
    if (field.kind === 'link' && ['flavor', 'size'].includes(field.name))
      return {
        ...field,
        reasonOf: (item) => quotaReason(list, filled, owners, item) ?? (image && imageReason(item, image)),
      };
    if (field.name === 'image') return { ...field, reasonOf: (item) => size && sizeReason(item, size) };
    if (field.name === 'system_volume_size')
      return {
        ...field,
        ...(size && { fallback: systemSize(size, image) }),
        ...(image &&
          Number(image.min_disk) > 0 && {
            help: t('At least {size} for {image}.', { size: sizeText(Number(image.min_disk)), image: nameOf(image) }),
          }),
      };
    return field;
  };
}
