import { ifExists } from '../../../catalogue/provider-error.ts';
import type { Flow } from '../../../operations/flow.ts';
import type { Cloud, ProjectCloud } from '../api/cloud.ts';
import { unlessBusy } from '../flows/kind-flows.ts';
import { deleteRouter } from '../network/routing.ts';

/* Deletes all objects of a project, in an order that the services accept (providers.md 4.8 "tenant delete"). */

interface Found {
  readonly id: string;
  readonly status?: string | null;
}

/** Deletes the objects of a list until it is empty. */
const deleteAll = (
  flow: Flow,
  stage: string,
  list: () => Promise<readonly Found[]>,
  remove: (id: string) => Promise<unknown>,
): Promise<void> =>
  flow.until(stage, async () => {
    const objects = await list();
    for (const { id, status } of objects) if (status !== 'deleting') await unlessBusy(remove(id));
    return objects.length === 0 || (await list()).length === 0 ? 'done' : {};
  });

/** Removes all objects of a project, including unmanaged ones. */
export async function emptyProject(cloud: Cloud, own: ProjectCloud, project: string, flow: Flow): Promise<void> {
  const { compute, network, volume } = own;
  const filter = { project_id: project };
  await deleteAll(flow, 'floating ips', () => network.floatingIps.list(filter), network.floatingIps.delete);
  await deleteAll(flow, 'servers', compute.servers.list, compute.servers.delete);
  await deleteAll(
    flow,
    'routers',
    () => network.routers.list(filter),
    (router) => deleteRouter(network, router),
  );
  await deleteAll(
    flow,
    'ports',
    async () => (await network.ports.list(filter)).filter(({ device_owner: owner }) => !owner?.startsWith('network:')),
    network.ports.delete,
  );
  await deleteAll(flow, 'networks', () => network.networks.list(filter), network.networks.delete);
  // The service creates a new default group whenever the project's groups are listed.
  await flow.ensure('groups', async () => {
    const groups = await network.securityGroups.list(filter);
    for (const { id } of groups) await ifExists(network.securityGroups.delete(id));
  });
  await deleteAll(flow, 'snapshots', volume.snapshots.list, volume.snapshots.delete);
  await deleteAll(flow, 'volumes', volume.volumes.list, (id) => volume.volumes.act(id, { 'os-force_delete': {} }));
  await flow.ensure('limits', async () => {
    for (const { quotas } of [cloud.compute, cloud.volume, cloud.network]) await ifExists(quotas.forget(project));
  });
}
