/** Bounds of a volume's size in MiB. */
export const smallestVolume = 1024;
export const largestVolume = 2_147_483_647;
