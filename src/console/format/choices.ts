import { t, titleOf } from '../i18n/words.ts';

/** Returns the text of a value from a fixed set of the API. */
export const choiceText = (name: string): string => (/^[a-z]+(_[a-z]+)+$/.test(name) ? titleOf(name) : t(name));
