/** Rejects work whose changes were rolled back because other work of the same batch failed: the caller runs it again. */
export class TakenBack extends Error {
  constructor() {
    super('Taken back with other work of the same batch');
  }
}
