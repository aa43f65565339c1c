/** Reports that a write was rolled back because another write of the same batch failed. The caller runs it again. */
export class TakenBack extends Error {
  constructor() {
    super('Taken back with other work of the same batch');
  }
}
