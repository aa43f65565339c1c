/**
 * How the one-file build starts. Its program is a part of the file like others; V8's compiled code is stored a second
 * after the first start, and saves the next ones a third of their time. See src/decisions/bundle.md.
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

/** The program in the file: a function, like the wrapper that Node.js makes of each CommonJS module. */
type Program = (module: { exports: Readonly<Record<string, unknown>> }, require: NodeJS.Require, url: string) => void;

/** By then a server has started, and most has been compiled that it will need. */
const timeout = 1000;
/** Of each of the two numbers that a file starts with: the checksum of what follows, and the length of the compiled code. */
const numberLength = 4;

/** The text of the program, and V8's compiled code of it. */
interface Code {
  readonly source: string;
  readonly cachedData?: Buffer;
}

/** Runs the program of the file at this URL, which has this digest, and returns its exports; stops on other platforms first. */
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
  if (!stored || script.cachedDataRejected) setTimeout(() => keep(file, script, code.source), timeout).unref();
  return module.exports;
}

function unpacked(url: string): string {
  try {
    return unpackPart(url, 'program').toString('latin1');
  } catch (error) {
    return reject(errorOf(error).message, url);
  }
}

/** The content of a code file, unless others could have written it or it is damaged: V8 trusts its input. */
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

/** Errors are ignored: the next start takes as long as this one. */
function keep(file: string, script: Script, source: string): void {
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
