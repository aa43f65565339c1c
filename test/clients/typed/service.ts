/** The parts of the service that staff read. */
import { connected, dataOf } from './client.ts';

const api = connected();

const { is_in_memory, jobs } = await dataOf(api.GET('/api/operation/'));
const lists = await Promise.all([
  dataOf(api.GET('/api/jobs/', { params: { query: { state: ['failing'] } } })),
  dataOf(api.GET('/api/outbox/', { params: { query: { outbox: ['hooks'] } } })),
  dataOf(api.GET('/api/backups/')),
]);
const [given] = await dataOf(api.GET('/api/deployment-settings/', { params: { query: { name: 'base_url' } } }));
const { is_enabled } = await dataOf(api.GET('/api/simulator/'));
const [newest] = await dataOf(api.GET('/api/audit/', { params: { query: { page_size: 1, outcome: ['done'] } } }));
if (newest === undefined) throw new Error('there is no audit record');

console.log(
  JSON.stringify({
    is_in_memory,
    failing: jobs.failing,
    lists: lists.map(({ length }) => length),
    setting: given?.name,
    is_enabled,
  }),
);
