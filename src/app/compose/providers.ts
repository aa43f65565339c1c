import { Catalogue } from '../../cloud/catalogue/catalogue.ts';
import type { ProviderType } from '../../cloud/catalogue/type.ts';
import { amazon } from '../../cloud/providers/amazon/amazon.ts';
import { digitalOcean } from '../../cloud/providers/digitalocean/digitalocean.ts';
import { gitlab } from '../../cloud/providers/gitlab/gitlab.ts';
import { jira } from '../../cloud/providers/jira/jira.ts';
import { openStack } from '../../cloud/providers/openstack/openstack.ts';
import { oracle } from '../../cloud/providers/oracle/oracle.ts';

/** The types of provider that a deployment serves unless it is given others; a further one is a folder and an item here. */
export const providerTypes: readonly ProviderType[] = [amazon, digitalOcean, gitlab, jira, openStack, oracle];

/** Their catalogue: what is made of it is made once, however many servers a process opens. */
export const builtIn = new Catalogue(providerTypes);
