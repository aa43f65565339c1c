import { choices } from './et-choices.ts';
import { cloud } from './et-cloud.ts';
import { conversation } from './et-conversation.ts';
import { lists } from './et-lists.ts';
import { people } from './et-people.ts';
import { service } from './et-service.ts';
import { dailyWork } from './et-work.ts';
import type { Words } from './lookup.ts';

/** Everything that the console says, in Estonian. */
export const estonian: Words = { ...lists, ...people, ...cloud, ...choices, ...conversation, ...dailyWork, ...service };
