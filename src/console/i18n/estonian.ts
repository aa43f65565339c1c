/** The Estonian texts, in a separate bundle that only Estonian users load (`words.ts`). */
import texts from './et.json' with { type: 'json' };
import server from './et-server.json' with { type: 'json' };
import type { Catalogue } from './lookup.ts';

const catalogue: Catalogue = { console: texts, server: Object.assign({}, ...Object.values(server)) };

Object.assign(globalThis, { estonian: catalogue });
