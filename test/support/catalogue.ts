import { api } from '../../src/app/compose/api.ts';
import { builtIn } from '../../src/app/compose/providers.ts';

/** The types of provider that servers serve unless they are given others. */
export const catalogue = builtIn;

/** Every path of the API of such servers. */
export const endpoints = api(catalogue);

/** Those that the documentation describes. */
export const documented = endpoints.filter(({ isPage }) => !isPage);
