import { api } from '../../src/app/compose/api.ts';
import { builtIn } from '../../src/app/compose/providers.ts';

/** The default provider types of servers. */
export const catalogue = builtIn;

/** Every path of the API of such servers. */
export const endpoints = api(catalogue);

/** Those in the documentation. */
export const documented = endpoints.filter(({ isPage }) => !isPage);
