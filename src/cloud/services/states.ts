import { type Json, wordValue } from '../../kernel/collection/representation.ts';

/** States of provider accounts (services.md 2.3). */
export const settingsStates = [
  'New',
  'Creation Scheduled',
  'Creating',
  'Sync Scheduled',
  'Syncing',
  'In Sync',
  'Erred',
] as const;

/** The state of an account in a column. */
export const settingsStateValue = (column: string): Json => wordValue(column, settingsStates);
