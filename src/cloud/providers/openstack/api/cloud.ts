import * as v from 'valibot';
import { ComputeApi } from './compute.ts';
import { IdentityApi } from './identity.ts';
import { NetworkApi } from './network.ts';
import { list } from './responses.ts';
import type { Call, Session } from './session.ts';
import { VolumeApi } from './volume.ts';

/** The services for one project. */
export class ProjectCloud {
  readonly compute: ComputeApi;
  readonly network: NetworkApi;
  readonly volume: VolumeApi;

  constructor(
    session: Session,
    /** Id of the project; absent: the administrator's own. */
    readonly project?: string,
  ) {
    this.compute = new ComputeApi(session.service('compute', project));
    this.network = new NetworkApi(session.service('network', project));
    this.volume = new VolumeApi(session.service('volume', project));
  }
}

/** One OpenStack cloud: the administrator's own project, and other projects by id. */
export class Cloud extends ProjectCloud {
  constructor(readonly session: Session) {
    super(session);
  }

  in(project: string): ProjectCloud {
    return new ProjectCloud(this.session, project);
  }

  /** Projects and users of the administrator's domain. */
  async identity(): Promise<IdentityApi> {
    const { user } = await this.session.token();
    return new IdentityApi(this.session.service('identity'), user.domain.id);
  }

  images = (): Promise<VendorImage[]> => publicImages(this.session.service('image'));
}

/* Image v2 (providers.md 4.7). */

/** Disk in GiB, memory in MiB. */
const image = v.object({
  id: v.string(),
  name: v.nullish(v.string(), ''),
  min_disk: v.nullish(v.number(), 0),
  min_ram: v.nullish(v.number(), 0),
});

export type VendorImage = v.InferOutput<typeof image>;

/** Public images. */
const publicImages = (call: Call): Promise<VendorImage[]> =>
  list(call, '/images', 'images', image, { visibility: 'public', status: 'active' });
