import { api } from '../../src/app/compose/api.ts';
import { builtIn } from '../../src/app/compose/providers.ts';

/** The default provider types of servers. */
export const catalogue = builtIn;

/** All endpoints with these types. */
export const endpoints = api(catalogue);

/** The endpoints in the documentation. */
export const documented = endpoints.filter(({ isPage }) => !isPage);
