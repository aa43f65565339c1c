/** Preload script: keeps the program's priority, because one with low priority starves beside other tests. */
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

os.setPriority = () => undefined;
syncBuiltinESMExports();
