/** The disk of a process made to fail, by a library that is loaded before all others (faults.c). */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What can be made to fail, in the order in which the library has the numbers; `folder` is the sync of one, `file` that of a database, not of its log. */
const faults = ['sync', 'room', 'write', 'folder', 'file'] as const;

/** Whether this machine can make it: Linux with a C compiler. */
export const canFail = process.platform === 'linux' && spawnSync('cc', ['--version'], { stdio: 'ignore' }).status === 0;

/** A folder whose disk can be made to fail, in a temporary one. */
export class FaultyDisk {
  readonly #root = mkdtempSync(join(tmpdir(), 'tenantry-faults-'));
  readonly folder = join(this.#root, 'data');
  /** What was done to the files, in the order in which it was done. */
  readonly trace = join(this.#root, 'trace');
  readonly #control = join(this.#root, 'control');
  readonly #library = join(this.#root, 'faults.so');

  constructor() {
    const source = fileURLToPath(new URL('faults.c', import.meta.url));
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', this.#library, source, '-ldl', '-lpthread']);
    writeFileSync(this.#control, Buffer.alloc(64));
    writeFileSync(this.trace, '');
  }

  /** What the environment of a process must have whose disk it is. */
  get environment(): Record<string, string> {
    return {
      LD_PRELOAD: this.#library,
      FAULTS_FOLDER: this.folder,
      FAULTS_TRACE: this.trace,
      FAULTS_CONTROL: this.#control,
    };
  }

  /** From now on a kind of call fails, always or once in so many calls, or does again what it should. */
  set(fault: (typeof faults)[number], fails: boolean | number): void {
    const descriptor = openSync(this.#control, 'r+');
    const number = Buffer.alloc(4);
    number.writeInt32LE(Number(fails));
    writeSync(descriptor, number, 0, 4, 4 * faults.indexOf(fault));
    closeSync(descriptor);
  }

  /** Length of the trace: what was on the disk at this moment is in its part before. */
  get position(): number {
    return statSync(this.trace).size;
  }

  remove(): void {
    rmSync(this.#root, { recursive: true });
  }
}
