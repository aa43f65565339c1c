import { FieldError, type IsRequired, type WritableField, wrap } from '../../../kernel/collection/field.ts';
import { text } from '../../../kernel/collection/values.ts';

const notBase64 = 'This field should be a valid Base64 encoded string.';
const maxMessageLength = 256 * 1024;

/** Limit of a body with such a message. A form may percent-encode its base64. */
export const maxMessageBodyBytes = 512 * 1024;

/** A SAML message as base64. Line breaks in it are removed. */
export const messageField = <const W extends { readonly required: boolean }>(
  writing: W,
): WritableField<string, IsRequired<W>> =>
  wrap(
    text({ max: maxMessageLength, lines: 'verbatim', example: 'PHNhbWxwOlJlc3BvbnNlLz4=', ...writing }),
    (parse) => (value, request, form) => {
      const joined = parse(value, request, form).replace(/\s+/g, '');
      if (joined.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(joined)) throw new FieldError([notBase64]);
      return joined;
    },
  );
