import { FieldError, type IsRequired, type WritableField, wrap } from '../../../kernel/collection/field.ts';
import { text } from '../../../kernel/collection/values.ts';

const notBase64 = 'This field should be a valid Base64 encoded string.';
const longest = 256 * 1024;

/** Largest body with such a message, whose base64 a form may write percent-encoded. */
export const messageBytes = 512 * 1024;

/** A message of SAML in base64, as text; the lines it may be broken into are joined. */
export const messageField = <const W extends { readonly required: boolean }>(
  writing: W,
): WritableField<string, IsRequired<W>> =>
  wrap(
    text({ max: longest, lines: 'verbatim', example: 'PHNhbWxwOlJlc3BvbnNlLz4=', ...writing }),
    (parse) => (value, request, form) => {
      const joined = parse(value, request, form).replace(/\s+/g, '');
      if (joined.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(joined)) throw new FieldError([notBase64]);
      return joined;
    },
  );
