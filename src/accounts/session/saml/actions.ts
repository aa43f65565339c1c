import type { Request } from '../../../kernel/access/request.ts';
import { describeFields } from '../../../kernel/collection/endpoint.ts';
import type { Fields } from '../../../kernel/collection/field.ts';
import { requireMethod } from '../login.ts';

/** The `actions` of OPTIONS on a path that takes these fields. Throws 401 where single sign-on is switched off. */
export const samlActions =
  (fields: Fields) =>
  (request: Request): Readonly<Record<string, unknown>> => {
    requireMethod(request, 'SAML2');
    return { POST: describeFields(fields, request, 'create') };
  };
