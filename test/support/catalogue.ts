import { api } from '../../src/app/compose/api.ts';
import { builtIn } from '../../src/app/compose/providers.ts';

/** The default provider types of servers. */
export const catalogue = builtIn;

/** All paths of the API with these types. */
export const endpoints = api(catalogue);

/** The paths in the documentation. */
export const documented = endpoints.filter(({ isPage }) => !isPage);
