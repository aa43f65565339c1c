import { ComputeApi } from './compute.ts';
import { IdentityApi } from './identity.ts';
import { publicImages, type VendorImage } from './image.ts';
import { NetworkApi } from './network.ts';
import type { Session } from './session.ts';
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
