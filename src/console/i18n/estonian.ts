/** The Estonian texts, a file of its own that only readers of Estonian load (`words.ts`). */
import texts from './et.json' with { type: 'json' };
import server from './et-server.json' with { type: 'json' };
import type { Catalogue } from './lookup.ts';

const catalogue: Catalogue = { console: texts, server: Object.assign({}, ...Object.values(server)) };

Object.assign(globalThis, { estonian: catalogue });
