import * as v from 'valibot';
import { list } from './responses.ts';
import type { Call } from './session.ts';

/* Image v2 (providers.md 4.7). */

/** Disk in GiB, memory in MiB. */
const image = v.object({
  id: v.string(),
  name: v.nullish(v.string(), ''),
  min_disk: v.nullish(v.number(), 0),
  min_ram: v.nullish(v.number(), 0),
});

export type VendorImage = v.InferOutput<typeof image>;

/** Public images. */
export const publicImages = (call: Call): Promise<VendorImage[]> =>
  list(call, '/images', 'images', image, { visibility: 'public', status: 'active' });
