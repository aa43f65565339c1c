/** Storage and memory sizes. The API uses MiB; users read and type GiB and TiB. */

export type SizeUnit = 'MiB' | 'GiB' | 'TiB';

const mebibytes: Readonly<Record<SizeUnit, number>> = { MiB: 1, GiB: 1024, TiB: 1024 ** 2 };

/** Returns the most readable unit of an amount in MiB: GiB from 1 GiB, TiB from 1,024 GiB. */
export const sizeUnit = (mib: number): SizeUnit => {
  const size = Math.abs(mib);
  return size >= mebibytes.TiB ? 'TiB' : size >= mebibytes.GiB ? 'GiB' : 'MiB';
};

/** Converts MiB to a unit, with one decimal below 100 and none above. */
export function sizeIn(mib: number, unit: SizeUnit): number {
  const value = mib / mebibytes[unit];
  return Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 10) / 10;
}

/**
 * Parses the input of a size field, such as `20`, `1.5 TiB` or `500 mb`, to whole MiB. The default unit is GiB. Returns undefined
 * if the text is not a size.
 */
export function parseSize(text: string): number | undefined {
  const match = /^([0-9]+(?:[.,][0-9]+)?)\s*(?:([mgt])(?:i?b)?)?$/i.exec(text.trim());
  if (!match) return undefined;
  const [, number = '', letter = 'g'] = match;
  const unit = `${letter.toUpperCase()}iB` as SizeUnit;
  return Math.round(Number(number.replace(',', '.')) * mebibytes[unit]);
}

/** Formats MiB for a size field: a number of GiB, or MiB with the unit if GiB would be inexact. */
export function sizeInput(mib: number): string {
  const gib = mib / mebibytes.GiB;
  return Number.isInteger(gib * 100) ? String(gib) : `${mib} MiB`;
}
