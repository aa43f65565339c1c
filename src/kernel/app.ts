import packageJson from '../../package.json' with { type: 'json' };
import type { Clock } from './clock.ts';
import { present } from './present.ts';

/**
 * One running deployment: the state and services that would otherwise be globals. Each module declares its members beside their
 * implementation (`declare module`). src/app/compose/composition.ts must provide all of them to compile.
 */
export interface App {
  readonly clock: Clock;
  /** Returns cryptographic random bytes; reproducible fixtures replace it with a seeded source. */
  readonly random: (bytes: number) => Buffer;
  readonly reactions: Reactions;
  readonly guards: Guards;
}

/**
 * Calls by which modules report changes to higher modules: `context.app.reactions.roleEnded(context, user)`. They run in the
 * transaction of the change. A module declares its members beside the calls (`declare module`). src/app/compose/reactions.ts must
 * implement exactly these members to compile.
 */
// biome-ignore lint/suspicious/noEmptyInterface: modules above add its members
export interface Reactions {}

/** Checks before changes that other modules may reject, declared like reactions. Each throws 409. */
// biome-ignore lint/suspicious/noEmptyInterface: modules above add its members
export interface Guards {}

/** The version of the program. */
export const { version } = packageJson;

/** Returns the UUID of a new object: 32 lower-case hex digits. */
export const newUuid = (app: App): string => present(newUuids(app, 1)[0]);

/** Returns a UUID of 122 random bits (version 4), for objects that its knowledge gives access to, such as invitations. */
export function randomUuid(app: App): string {
  const bytes = app.random(16);
  bytes[6] = (bytes.readUInt8(6) & 0x0f) | 0x40;
  bytes[8] = (bytes.readUInt8(8) & 0x3f) | 0x80;
  return bytes.toString('hex');
}

/**
 * Returns UUIDs that start with the time (version 7), so that indexes store new objects together. See
 * src/decisions/ordered-uuids.md.
 */
export function newUuids(app: App, count: number): string[] {
  const random = app.random(10 * count);
  const time = Math.floor(app.clock.now() / 1000)
    .toString(16)
    .padStart(12, '0');
  // Four bits for the version, two for the variant.
  for (let i = 0; i < random.length; i += 10) {
    random[i] = (random.readUInt8(i) & 0x0f) | 0x70;
    random[i + 2] = (random.readUInt8(i + 2) & 0x3f) | 0x80;
  }
  const digits = random.toString('hex');
  const uuids: string[] = [];
  for (let offset = 0; offset < digits.length; offset += 20) uuids.push(time + digits.slice(offset, offset + 20));
  return uuids;
}
