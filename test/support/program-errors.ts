import { providerKit } from 'tenantry';

/** The `HttpError` of the built program, which is another class than that of the source. */
export const HttpError = providerKit.invalid({}).constructor as new (
  ...args: ConstructorParameters<typeof import('../../src/kernel/http/error.ts').HttpError>
) => import('../../src/kernel/http/error.ts').HttpError;
