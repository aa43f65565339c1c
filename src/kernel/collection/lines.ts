import * as v from 'valibot';
import { controls, controlsInLines } from '../control-characters.ts';
import { messages } from './field.ts';

export type TextCheck = v.PipeItem<string, string, v.BaseIssue<unknown>>;

/**
 * What lines a text may have (core.md 1.5 "Control characters"): one, many, or whatever it is made of, as passwords and
 * secrets.
 */
export type Lines = 'one' | 'many' | 'verbatim';

/** The checks of a text by its lines. */
export const lineChecks = (lines: Lines): readonly TextCheck[] =>
  lines === 'verbatim'
    ? []
    : [
        v.transform((text: string) => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text)),
        v.check((text: string) => !(lines === 'one' ? controls : controlsInLines).test(text), messages.control),
      ];
