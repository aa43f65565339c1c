/** Thrown if a write was rolled back because another write in its batch failed. The caller repeats the write. */
export class BatchRolledBack extends Error {
  constructor() {
    super('rolled back with other writes of the same batch');
  }
}
