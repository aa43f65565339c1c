/* The size of the synchronised account. */
export const machines = 2000;
/** In addition to the root volume of each machine. */
export const otherVolumes = 2000;
export const ownImages = 500;
/** Milliseconds until the vendor responds to a call. */
export const pace = 20;
/** Number of objects of each of these kinds at OpenStack. */
export const projects = 10;
