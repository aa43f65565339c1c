import { Catalogue } from '../../cloud/catalogue/catalogue.ts';
import type { ProviderType } from '../../cloud/catalogue/type.ts';
import { amazon } from '../../cloud/providers/amazon/amazon.ts';
import { digitalOcean } from '../../cloud/providers/digitalocean/digitalocean.ts';
import { gitlab } from '../../cloud/providers/gitlab/gitlab.ts';
import { jira } from '../../cloud/providers/jira/jira.ts';
import { openStack } from '../../cloud/providers/openstack/openstack.ts';
import { oracle } from '../../cloud/providers/oracle/oracle.ts';

/** The default provider types of a deployment. A new type is a folder and an item here. */
export const providerTypes: readonly ProviderType[] = [amazon, digitalOcean, gitlab, jira, openStack, oracle];

/** The catalogue of the default types. All servers in a process share it and the values derived from it. */
export const builtIn = new Catalogue(providerTypes);
