import type { BodySpec } from './endpoint.ts';
import type { Fields } from './field.ts';
import type { Purpose } from './validate.ts';

const titleEndings: Readonly<Record<Purpose, string>> = { create: 'Create', replace: 'Update', change: 'Patch' };

interface Described {
  readonly fields: Fields;
  readonly examples?: Readonly<Partial<Record<Purpose, Readonly<Record<string, unknown>>>>> | undefined;
}

/** The body of a write as the documentation describes it; `title` is that of the objects. */
export function bodyOf(title: string, { examples, fields }: Described, purpose: Purpose): BodySpec {
  const example = examples?.[purpose];
  // What must be uploaded is no JSON.
  const isUpload =
    purpose === 'create' && Object.values(fields).some(({ input, type }) => type === 'file upload' && input?.required);
  return {
    fields,
    purpose,
    title: title + titleEndings[purpose],
    ...(example && { example }),
    ...(isUpload && { types: ['multipart/form-data'] }),
  };
}
