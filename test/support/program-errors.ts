import { providerKit } from 'tenantry';

/** The class of the built program whose errors become responses; it differs from the class in the source. */
export const HttpError = providerKit.invalid({}).constructor as new (
  ...args: ConstructorParameters<typeof import('../../src/kernel/http/error.ts').HttpError>
) => import('../../src/kernel/http/error.ts').HttpError;
