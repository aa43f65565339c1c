/** The data folder on a file system that is not a local disk (manual, deploying), with the built program. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Program } from '../../support/program.ts';

const test = suite('data folder on a remote file system');

/** Makes statfs return the type of a file system. */
const envOfFileSystem = (type: number): Readonly<Record<string, string>> => {
  const code = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
    fs.statfsSync = () => ({ type: ${type}, bavail: 1e9, bsize: 4096 }); syncBuiltinESMExports();`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
};

test('warns in serve and doctor of file systems that may not support locks and syncs', async () => {
  const program = new Program(undefined);
  const [folder, level, msg] = [
    'data',
    40,
    'the data folder is probably not on a local disk: if its file system does not support locks and syncs, data can be lost',
  ];
  const warnings = (text: string): unknown[] =>
    text
      .split('\n')
      .filter((line) => line.includes('local disk'))
      .map((line) => {
        const { file_system, folder, level, msg } = JSON.parse(line);
        return { file_system, folder: folder.split('/').at(-1), level, msg };
      });
  try {
    for (const [type, file_system] of [
      [0x6969, 'NFS'],
      [0xff534d42, 'CIFS'],
      [0xff534d42 | 0, 'CIFS'],
      [0x65735546, 'FUSE'],
    ] as const) {
      const server = await program.serve([], { env: envOfFileSystem(type) });
      assert.is(await server.stop(), 0);
      assert.equal(warnings(server.errors()), [{ file_system, folder, level, msg }]);
    }
    const doctor = await program.run(['doctor', '--data', 'data'], { env: envOfFileSystem(0x6969) });
    assert.equal([doctor.code, doctor.stdout], [0, 'no problems\n']);
    assert.equal(warnings(doctor.stderr), [{ file_system: 'NFS', folder, level, msg }]);
    const local = await program.serve([], { env: envOfFileSystem(0xef53) });
    await local.stop();
    assert.equal(warnings(local.errors()), []);
  } finally {
    await program.end();
  }
});

test.run();
