/** A write was rolled back because another write of its batch failed. The caller runs the write again. */
export class BatchRolledBack extends Error {
  constructor() {
    super('rolled back with other writes of the same batch');
  }
}
