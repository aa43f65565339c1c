import type { Property } from '../../../properties/property.ts';

/** Bounds of a volume's size in MiB. */
export const smallestVolume = 1024;
export const largestVolume = 2_147_483_647;

/** Cores of a flavor, and its memory and disk in MiB. */
export const sizeOf = ({ values: { cores, disk, ram } }: Pick<Property, 'values'>) => ({
  cores: Number(cores),
  disk: Number(disk),
  ram: Number(ram),
});
