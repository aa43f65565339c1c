/** Combines the state of an object and its state at the provider into one word with a tone. */
import { type Item, ownValue, textOf } from '../item.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'idle';

interface Status {
  /** In English. */
  readonly word: string;
  readonly tone: Tone;
  /** Accepted but not started; shown as a hollow dot. */
  readonly isQueued?: boolean;
}

const of = (tone: Tone, word: string): Status => ({ word, tone });

/** Provider states of resources in state OK, in lower case. */
const runtimeStates: Readonly<Record<string, Status>> = {
  online: of('good', 'Running'),
  active: of('good', 'Running'),
  running: of('good', 'Running'),
  up: of('good', 'Running'),
  available: of('good', 'Available'),
  'in-use': of('good', 'In use'),
  inuse: of('good', 'In use'),
  ok: of('good', 'Ready'),
  '': of('good', 'Ready'),
  offline: of('idle', 'Stopped'),
  off: of('idle', 'Stopped'),
  shutoff: of('idle', 'Stopped'),
  stopped: of('idle', 'Stopped'),
  down: of('idle', 'Stopped'),
  paused: of('idle', 'Paused'),
  suspended: of('idle', 'Suspended'),
  terminated: of('idle', 'Terminated'),
  building: of('busy', 'Creating'),
  build: of('busy', 'Creating'),
  pending: of('busy', 'Creating'),
  provisioning: of('busy', 'Creating'),
  creating: of('busy', 'Creating'),
  reboot: of('busy', 'Restarting'),
  hard_reboot: of('busy', 'Restarting'),
  resize: of('busy', 'Resizing'),
  resized: of('busy', 'Resizing'),
  verify_resize: of('busy', 'Resizing'),
  starting: of('busy', 'Starting'),
  stopping: of('busy', 'Stopping'),
  'shutting-down': of('busy', 'Stopping'),
  attaching: of('busy', 'Attaching'),
  detaching: of('busy', 'Detaching'),
  extending: of('busy', 'Extending'),
  deleting: of('busy', 'Deleting'),
  error: of('bad', 'Error'),
};

/** Runtime states of running machines, as providers write them. */
export const runningStates = ['ACTIVE', 'online', 'running'] as const;

/** Words for the state Updating, by the running action. */
const runningActions: Readonly<Record<string, string>> = {
  start: 'Starting',
  stop: 'Stopping',
  restart: 'Restarting',
  change_flavor: 'Resizing',
  resize: 'Resizing',
  attach: 'Attaching',
  detach: 'Detaching',
  extend: 'Extending',
  pull: 'Refreshing',
  snapshot: 'Taking a snapshot',
  restore: 'Restoring',
};

/** Words for a failed action, by a part of its name. */
const failedActions: Readonly<Record<string, string>> = {
  create: 'Creation failed',
  creation: 'Creation failed',
  start: 'Start failed',
  stop: 'Stop failed',
  restart: 'Restart failed',
  destroy: 'Deletion failed',
  delete: 'Deletion failed',
  deletion: 'Deletion failed',
  update: 'Update failed',
  change_flavor: 'Resize failed',
  resize: 'Resize failed',
  attach: 'Attach failed',
  detach: 'Detach failed',
  extend: 'Extend failed',
  pull: 'Refresh failed',
  snapshot: 'Snapshot failed',
  restore: 'Restore failed',
};

/** All other states of the API, in lower case. */
const states: Readonly<Record<string, Status>> = {
  ok: of('good', 'Ready'),
  new: of('busy', 'Syncing'),
  'in sync': of('good', 'In sync'),
  'sync scheduled': { word: 'Syncing', tone: 'busy', isQueued: true },
  syncing: of('busy', 'Syncing'),
  'creation scheduled': { word: 'Creating', tone: 'busy', isQueued: true },
  creating: of('busy', 'Creating'),
  'update scheduled': { word: 'Updating', tone: 'busy', isQueued: true },
  updating: of('busy', 'Updating'),
  'deletion scheduled': { word: 'Deleting', tone: 'busy', isQueued: true },
  deleting: of('busy', 'Deleting'),
  erred: of('bad', 'Failed'),
  delivered: of('good', 'Delivered'),
  accepted: of('good', 'Accepted'),
  done: of('good', 'Done'),
  ready: of('good', 'Ready'),
  pending: of('busy', 'Pending'),
  running: of('busy', 'Running'),
  waiting: of('busy', 'Waiting'),
  failing: of('bad', 'Failing'),
  failed: of('bad', 'Failed'),
  canceled: of('idle', 'Canceled'),
  rejected: of('idle', 'Rejected'),
  expired: of('idle', 'Expired'),
  skipped: of('idle', 'Skipped'),
  never: of('idle', 'Never'),
  error: of('bad', 'Error'),
  critical: of('bad', 'Critical'),
  warning: of('warn', 'Warning'),
  info: of('idle', 'Info'),
  debug: of('idle', 'Debug'),
};

/** Returns the status of an API state. An unknown state keeps its name. */
export const statusOfWord = (word: string): Status => ownValue(states, word.toLowerCase()) ?? of('idle', word);

/** Whether an operation is running, so that the state will change soon. */
export const isTransient = (state: string): boolean => /scheduled|ing$/i.test(state);

const disappeared = 'Does not exist at backend.';

/**
 * Returns the status of an object: the runtime state of a resource in state OK, or else the running or failed operation. `action`
 * of a failed resource is its last failed action (`useFailedActions`), if known.
 */
export function statusOf(item: Item): Status {
  const state = textOf(item, 'state');
  const runtime = textOf(item, 'runtime_state');
  const action = textOf(item, 'action');
  if (state === 'OK' && 'runtime_state' in item)
    return ownValue(runtimeStates, runtime.toLowerCase()) ?? of('idle', runtime);
  if (/^updat/i.test(state) && action !== '') {
    const word = ownValue(runningActions, action);
    if (word !== undefined) return of('busy', word);
  }
  if (state === 'Erred') return failureOf(item, action);
  return statusOfWord(state || textOf(item, 'status') || textOf(item, 'severity') || textOf(item, 'level'));
}

function failureOf(item: Item, action: string): Status {
  if (textOf(item, 'error_message') === disappeared) return of('warn', 'Missing at provider');
  const known = ownValue(failedActions, action);
  if (known !== undefined) return of('bad', known);
  if (!('runtime_state' in item)) return of('bad', 'type' in item ? 'Account failed' : 'Failed');
  // A resource without a provider id was never created there.
  return of('bad', textOf(item, 'backend_id') === '' ? 'Creation failed' : 'Failed');
}

/** Every word that `statusOf` and `statusOfWord` return, for the translation test. */
export const statusWords = (): readonly string[] => [
  ...Object.values(runtimeStates).map(({ word }) => word),
  ...Object.values(states).map(({ word }) => word),
  ...Object.values(runningActions),
  ...Object.values(failedActions),
  'Missing at provider',
  'Account failed',
];
