import { providerKit } from 'tenantry';

/** The built program's class of errors that become responses. It differs from the class in the source. */
export const HttpError = providerKit.invalid({}).constructor as new (
  ...args: ConstructorParameters<typeof import('../../src/kernel/http/error.ts').HttpError>
) => import('../../src/kernel/http/error.ts').HttpError;
