/** What staff read of the service itself. */
import { answer, connected } from './client.ts';

const api = connected();

const { is_in_memory, jobs } = await answer(api.GET('/api/operation/'));
const lists = await Promise.all([
  answer(api.GET('/api/jobs/', { params: { query: { state: ['failing'] } } })),
  answer(api.GET('/api/outbox/', { params: { query: { outbox: ['hooks'] } } })),
  answer(api.GET('/api/backups/')),
]);
const [given] = await answer(api.GET('/api/deployment-settings/', { params: { query: { name: 'base_url' } } }));
const { is_enabled } = await answer(api.GET('/api/simulator/'));

console.log(
  JSON.stringify({
    is_in_memory,
    failing: jobs.failing,
    lists: lists.map(({ length }) => length),
    setting: given?.name,
    is_enabled,
  }),
);
