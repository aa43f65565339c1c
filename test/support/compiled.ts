import { fileURLToPath } from 'node:url';
import { compiledFile } from '../../src/build/tests.mjs';

/** Returns the compiled file of a TypeScript file below test/, to run or import in another process. */
export const compiled = (url: URL | string): string => compiledFile(fileURLToPath(url));
