/** Entry point of the single sign-on thread. See src/decisions/login-queues.md. */
import { serveTasks } from '../../../kernel/threads/task-thread.ts';
import { type Task, type TaskInput, type TaskName, tasks } from './tasks.ts';

const taskFunctions: { readonly [N in TaskName]: (input: TaskInput<N>) => unknown } = tasks;

const perform = <N extends TaskName>({ input, name }: Task<N>): unknown => taskFunctions[name](input);

serveTasks((task: Task<TaskName>) => perform(task));
