import { providerKit } from 'tenantry';

/** The class of the built program whose errors become responses: those of the source are others to it. */
export const HttpError = providerKit.invalid({}).constructor as new (
  ...args: ConstructorParameters<typeof import('../../src/kernel/http/error.ts').HttpError>
) => import('../../src/kernel/http/error.ts').HttpError;
