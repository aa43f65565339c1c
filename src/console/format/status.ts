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

const status = (tone: Tone, word: string): Status => ({ word, tone });

/** Provider states of resources in state OK, in lower case. */
const runtimeStates: Readonly<Record<string, Status>> = {
  online: status('good', 'Running'),
  active: status('good', 'Running'),
  running: status('good', 'Running'),
  up: status('good', 'Running'),
  available: status('good', 'Available'),
  'in-use': status('good', 'In use'),
  inuse: status('good', 'In use'),
  ok: status('good', 'Ready'),
  '': status('good', 'Ready'),
  offline: status('idle', 'Stopped'),
  off: status('idle', 'Stopped'),
  shutoff: status('idle', 'Stopped'),
  stopped: status('idle', 'Stopped'),
  down: status('idle', 'Stopped'),
  paused: status('idle', 'Paused'),
  suspended: status('idle', 'Suspended'),
  terminated: status('idle', 'Terminated'),
  building: status('busy', 'Creating'),
  build: status('busy', 'Creating'),
  pending: status('busy', 'Creating'),
  provisioning: status('busy', 'Creating'),
  creating: status('busy', 'Creating'),
  reboot: status('busy', 'Restarting'),
  hard_reboot: status('busy', 'Restarting'),
  resize: status('busy', 'Resizing'),
  resized: status('busy', 'Resizing'),
  verify_resize: status('busy', 'Resizing'),
  starting: status('busy', 'Starting'),
  stopping: status('busy', 'Stopping'),
  'shutting-down': status('busy', 'Stopping'),
  attaching: status('busy', 'Attaching'),
  detaching: status('busy', 'Detaching'),
  extending: status('busy', 'Extending'),
  deleting: status('busy', 'Deleting'),
  error: status('bad', 'Error'),
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
  ok: status('good', 'Ready'),
  new: status('busy', 'Syncing'),
  'in sync': status('good', 'In sync'),
  'sync scheduled': { word: 'Syncing', tone: 'busy', isQueued: true },
  syncing: status('busy', 'Syncing'),
  'creation scheduled': { word: 'Creating', tone: 'busy', isQueued: true },
  creating: status('busy', 'Creating'),
  'update scheduled': { word: 'Updating', tone: 'busy', isQueued: true },
  updating: status('busy', 'Updating'),
  'deletion scheduled': { word: 'Deleting', tone: 'busy', isQueued: true },
  deleting: status('busy', 'Deleting'),
  erred: status('bad', 'Failed'),
  delivered: status('good', 'Delivered'),
  accepted: status('good', 'Accepted'),
  done: status('good', 'Done'),
  ready: status('good', 'Ready'),
  pending: status('busy', 'Pending'),
  running: status('busy', 'Running'),
  waiting: status('busy', 'Waiting'),
  failing: status('bad', 'Failing'),
  failed: status('bad', 'Failed'),
  canceled: status('idle', 'Canceled'),
  rejected: status('idle', 'Rejected'),
  expired: status('idle', 'Expired'),
  skipped: status('idle', 'Skipped'),
  never: status('idle', 'Never'),
  error: status('bad', 'Error'),
  critical: status('bad', 'Critical'),
  warning: status('warn', 'Warning'),
  info: status('idle', 'Info'),
  debug: status('idle', 'Debug'),
};

/** Returns the status of an API state. An unknown state keeps its name. */
export const statusOfWord = (word: string): Status => ownValue(states, word.toLowerCase()) ?? status('idle', word);

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
    return ownValue(runtimeStates, runtime.toLowerCase()) ?? status('idle', runtime);
  if (/^updat/i.test(state) && action !== '') {
    const word = ownValue(runningActions, action);
    if (word !== undefined) return status('busy', word);
  }
  if (state === 'Erred') return failureOf(item, action);
  return statusOfWord(state || textOf(item, 'status') || textOf(item, 'severity') || textOf(item, 'level'));
}

function failureOf(item: Item, action: string): Status {
  if (textOf(item, 'error_message') === disappeared) return status('warn', 'Missing at provider');
  const known = ownValue(failedActions, action);
  if (known !== undefined) return status('bad', known);
  if (!('runtime_state' in item)) return status('bad', 'type' in item ? 'Account failed' : 'Failed');
  // A resource without a provider id was never created there.
  return status('bad', textOf(item, 'backend_id') === '' ? 'Creation failed' : 'Failed');
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
