/**
 * Starts the one-file build, whose program is one of the parts of the file. A second after the first start, stores V8's compiled
 * code, which shortens later starts by a third. See src/decisions/bundle.md.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { errorOf } from '../present.ts';
import { builtFor } from './embedded.ts';
import { unpackPart } from './packed-parts.ts';
import { reject, requirePlatform } from './platform.ts';
import { folderOfUser, foreignWriter, makePrivateFolder, writeAtomically } from './private-folder.ts';

/** The program in the file: a function, like the wrapper that Node.js creates for CommonJS modules. */
type Program = (module: { exports: Readonly<Record<string, unknown>> }, require: NodeJS.Require, url: string) => void;

/** Delay after which a server has started and most of its code is compiled. */
const timeout = 1000;
/** Size of the two numbers at the start of a code file: the checksum of the rest, and the length of the compiled code. */
const numberLength = 4;

/** The text of the program and its compiled code. */
interface Code {
  readonly source: string;
  readonly cachedData?: Buffer;
}

/** Runs the program with this digest in the file at this URL, and returns its exports. Stops on unsupported platforms. */
export function runProgram(url: string, digest: string): Readonly<Record<string, unknown>> {
  if (builtFor) requirePlatform(builtFor, url);
  const folder = process.env.TENANTRY_NATIVE_CACHE || folderOfUser();
  const file = join(folder, `${digest.slice(0, 16)}-${cachedDataVersionTag()}.code`);
  const stored = readStored(file);
  const code: Code = stored ?? { source: unpacked(url) };
  const script = new Script(code.source, { ...code, filename: 'tenantry:program' });
  const module = { exports: {} };
  const program: Program = script.runInThisContext();
  program(module, createRequire(url), url);
  if (!stored || script.cachedDataRejected) setTimeout(() => storeCode(file, script, code.source), timeout).unref();
  return module.exports;
}

function unpacked(url: string): string {
  try {
    return unpackPart(url, 'program').toString('latin1');
  } catch (error) {
    return reject(errorOf(error).message, url);
  }
}

/** Returns the content of a code file, unless it is damaged or others could have written it, because V8 trusts its input. */
function readStored(file: string): Code | undefined {
  try {
    if (foreignWriter(dirname(file)) !== undefined) return undefined;
    const bytes = readFileSync(file);
    const content = bytes.subarray(numberLength);
    if (crc32(content) !== bytes.readUInt32LE()) return undefined;
    const end = numberLength + content.readUInt32LE();
    return { cachedData: content.subarray(numberLength, end), source: content.toString('latin1', end) };
  } catch {
    return undefined;
  }
}

/** Ignores errors. The next start will just take as long as this one. */
function storeCode(file: string, script: Script, source: string): void {
  try {
    makePrivateFolder(dirname(file));
    if (foreignWriter(dirname(file)) !== undefined) return;
    const cachedData = script.createCachedData();
    const content = Buffer.concat([numberOf(cachedData.length), cachedData, Buffer.from(source, 'latin1')]);
    writeAtomically(file, Buffer.concat([numberOf(crc32(content)), content]));
  } catch {
    return;
  }
}

function numberOf(value: number): Buffer {
  const bytes = Buffer.alloc(numberLength);
  bytes.writeUInt32LE(value);
  return bytes;
}
