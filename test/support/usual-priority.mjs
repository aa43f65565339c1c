/** Loaded into a program: its priority stays as it is, because a low one starves beside other tests. */
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

os.setPriority = () => undefined;
syncBuiltinESMExports();
