import { customerScope } from '../../accounts/customers/scope.ts';
import { keyScope } from '../../accounts/keys/scope.ts';
import { projectScope } from '../../accounts/projects/scope.ts';
import { userScope } from '../../accounts/users/scope.ts';
import { quotaScope } from '../../activity/quotas/scope.ts';
import { Scopes } from '../../activity/scopes/scopes.ts';
import type { Catalogue } from '../../cloud/catalogue/catalogue.ts';
import { resourceScope } from '../../cloud/resources/resource.ts';
import { linkScope, serviceScope, settingsScope } from '../../cloud/services/scopes.ts';
import { memoised } from '../../kernel/memoised.ts';

/** The scopes of quotas, alerts and events. */
export const scopesOf = memoised((catalogue: Catalogue): Scopes => {
  const holders = {
    customer: customerScope,
    project: projectScope,
    settings: settingsScope,
    service: serviceScope(catalogue),
    link: linkScope(catalogue),
    resource: resourceScope(catalogue),
  };
  return new Scopes({ user: userScope, key: keyScope, quota: quotaScope(holders), ...holders });
});
