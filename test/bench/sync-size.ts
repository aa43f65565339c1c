/* The account whose synchronisation is measured. */
export const machines = 2000;
/** Besides the root volume of each machine. */
export const otherVolumes = 2000;
export const ownImages = 500;
/** Milliseconds until the vendor answers a call. */
export const pace = 20;
/** At OpenStack, of which each has such a part. */
export const projects = 10;
