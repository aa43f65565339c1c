/** The program of the thread of single sign-on. See src/decisions/login-queues.md. */
import { serveTasks } from '../../../kernel/threads/task-server.ts';
import { type Given, type TaskName, tasks } from './tasks.ts';

interface Task<N extends TaskName> {
  readonly name: N;
  readonly input: Given<N>;
}

const performers: { readonly [N in TaskName]: (input: Given<N>) => unknown } = tasks;

const perform = <N extends TaskName>({ input, name }: Task<N>): unknown => performers[name](input);

serveTasks((task: Task<TaskName>) => perform(task));
