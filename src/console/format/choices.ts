import { t, titleOf } from '../i18n/words.ts';

/** A value that the API has a fixed set of, in words. */
export const choiceText = (name: string): string => (/^[a-z]+(_[a-z]+)+$/.test(name) ? titleOf(name) : t(name));
