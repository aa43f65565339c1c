import type { Json } from '../../support/fixture.ts';
import type { RestRoutes } from '../rest.ts';
import { type ObjectKind, routesOf, type Site } from './objects.ts';
import type { Quotas } from './quotas.ts';
import { denial } from './rejection.ts';

const wrong = (message: string) => denial('volume', 400, message);

/** Block storage: volumes and snapshots. */
export function storageRoutes(site: Site, quotas: Quotas): RestRoutes {
  const { contents: setup } = site;
  const common = { created: 202, isOfProject: true, isDetailed: true, filters: ['name'] };
  const snapshotsOf = (volume: Json): Json[] =>
    setup.all('volume/snapshots').filter(({ volume_id: id }) => id === volume.id);
  const end = (list: string, object: Json): void => {
    object.status = 'deleting';
    setup.after(() => setup.remove(list, object.id));
  };
  const volumes: ObjectKind = {
    ...common,
    list: 'volume/volumes',
    name: 'volume',
    parameters: {
      required: ['size'],
      optional: ['name', 'description', 'metadata', 'imageRef', 'snapshot_id', 'availability_zone'],
    },
    changes: ['name', 'description'],
    initialValues: ({ imageRef, metadata = {}, size, snapshot_id: source }, project) => {
      quotas.require('volume', project, { volumes: 1, gigabytes: size });
      const image = imageRef === undefined ? undefined : setup.with('image/images', imageRef);
      const snapshot = source ? setup.with('volume/snapshots', source) : undefined;
      if (snapshot && snapshot.size > size) throw wrong('Invalid input received: Volume size is too small.');
      const before = snapshot && setup.find('volume/volumes', snapshot.volume_id);
      return {
        metadata,
        volume_type: 'lvm',
        attachments: [],
        snapshot_id: source ?? null,
        status: 'creating',
        bootable: image ? 'true' : (before?.bootable ?? 'false'),
        'os-vol-tenant-attr:tenant_id': project,
        volume_image_metadata: image
          ? { image_id: image.id, image_name: image.name }
          : (before?.volume_image_metadata ?? {}),
      };
    },
    onCreated: (volume) =>
      setup.after(() => Object.assign(volume, volume.status === 'creating' && { status: 'available' })),
    remove: (volume) => {
      if (!['available', 'error'].includes(volume.status) || snapshotsOf(volume).length > 0)
        throw wrong('Invalid volume: Volume status must be available or error and must not have snapshots.');
      end('volume/volumes', volume);
    },
    displayed: ({ availability_zone: _, imageRef: __, project_id: ___, ...volume }) => volume,
  };
  const snapshots: ObjectKind = {
    ...common,
    list: 'volume/snapshots',
    name: 'snapshot',
    parameters: { required: ['volume_id'], optional: ['name', 'description', 'metadata', 'force'] },
    changes: ['name', 'description'],
    initialValues: ({ metadata = {}, volume_id: id }, project) => {
      const { size } = setup.with('volume/volumes', id);
      quotas.require('volume', project, { snapshots: 1, gigabytes: size });
      return { metadata, status: 'creating', size, 'os-extended-snapshot-attributes:project_id': project };
    },
    onCreated: (snapshot) =>
      setup.after(() => Object.assign(snapshot, snapshot.status === 'creating' && { status: 'available' })),
    remove: (snapshot) => end('volume/snapshots', snapshot),
    displayed: ({ force: _, project_id: __, ...snapshot }) => snapshot,
  };
  return {
    ...routesOf(site, volumes),
    ...routesOf(site, snapshots),
    'POST /volume/volumes/:id/action': ({ json, params: { id = '' } }) => {
      const volume = setup.with('volume/volumes', id);
      const [[order = '', values] = []] = Object.entries<Json>(json);
      if (order === 'os-force_delete') end('volume/volumes', volume);
      else if (order === 'os-extend') {
        const { new_size: size } = values;
        if (volume.status !== 'available')
          throw wrong(`Invalid volume: Volume ${id} status must be available to extend.`);
        if (size <= volume.size) throw wrong('Invalid input received: New size for extend must be greater.');
        quotas.require('volume', volume.project_id, { gigabytes: size - volume.size });
        volume.status = 'extending';
        setup.after(() => Object.assign(volume, { status: 'available', size }));
      } else throw wrong(`There is no such action: ${order}`);
      return { status: 202 };
    },
  };
}
