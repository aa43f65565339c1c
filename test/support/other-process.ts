import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = `const SQLite = require('better-sqlite3');
  const db = new SQLite(process.argv[1]);
  db.exec('BEGIN IMMEDIATE');
  process.stdin.once('data', (statement) => { db.exec(String(statement)); db.close(); process.exit(); });
  process.stdout.write('begun');`;

/**
 * Another process in the middle of a write transaction. SQLite locks belong to a process, so a second connection of this process
 * would not do.
 */
export class OtherWriter {
  private constructor(private readonly child: ChildProcess) {}

  /** Starts the process. Resolves when it holds the write lock. */
  static async begin(file: string): Promise<OtherWriter> {
    const child = spawn(process.execPath, ['-e', program, file], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    return new OtherWriter(child);
  }

  /** Ends the transaction and the process. */
  async end(statement: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    const ended = once(this.child, 'close');
    this.child.stdin?.write(statement);
    await ended;
  }
}
