// This file is longer than others because of its table.

import type { ServerOptions } from 'tenantry';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { endpoints } from '../../support/catalogue.ts';
import { bodies, queries } from './bodies.ts';
import { isProvided, newKeyOf, providedBody, providedLines } from './provided.ts';
import { type Column, columns, restore, type Situation, situation } from './situation.ts';

/*
 * The rights: every method of every path, requested by all kinds of callers. ST staff, GS global support, CO and CS owner and
 * support of the customer, PM, PA, PS manager, administrator and support of its project, UN a user without a role, IN an
 * inactive user with a token, AN a caller without a token. `own` is the customer of their roles and its objects, `foreign`
 * another one; of users, `self` is the caller, `other` another user, `staff` one of the staff; `self` among permissions is the
 * caller's own. A missing object needs no rows: it is always like an invisible one. A dot: the case does not exist;
 * `ok`: any status but a rejection. Collections of providers have their rows in provided.ts, except for the exceptions here.
 */
const table = `
                                                                           ST  GS  CO  CS  PM  PA  PS  UN  IN  AN
POST   /api-auth/password/                                       -         200 200 200 200 200 200 200 200 200 200
POST   /api-auth/password/forgot/                                -         404 404 404 404 404 404 404 404 404 404
POST   /api-auth/password/reset/                                 -         404 404 404 404 404 404 404 404 404 404
POST   /api-auth/password/initial/                               -         400 400 400 400 400 400 400 400 400 400
POST   /api-auth/second-factor/                                  -         400 400 400 400 400 400 400 400 400 400
POST   /api-auth/second-factor/options/                          -         400 400 400 400 400 400 400 400 400 400
POST   /api-auth/passkey/                                        -         400 400 400 400 400 400 400 400 400 400
POST   /api-auth/passkey/options/                                -         400 400 400 400 400 400 400 400 400 400
POST   /api-auth/recover/                                        -         400 400 400 400 400 400 400 400 400 400
POST   /api-auth/logout/                                         -         204 204 204 204 204 204 204 204 401 401
POST   /api-auth/saml2/login/                                    -         401 401 401 401 401 401 401 401 401 401
POST   /api-auth/saml2/login/complete/                           -         401 401 401 401 401 401 401 401 401 401
GET    /api-auth/saml2/logout/                                   -         401 401 401 401 401 401 401 401 401 401
GET    /api-auth/saml2/logout/complete/                          -         401 401 401 401 401 401 401 401 401 401
POST   /api-auth/saml2/logout/complete/                          -         401 401 401 401 401 401 401 401 401 401
GET    /api-auth/saml2/metadata/                                 -         200 200 200 200 200 200 200 200 200 200
GET    /api-auth/saml2/providers/                                -         200 200 200 200 200 200 200 200 200 200
GET    /api-auth/oidc/:key/login/                                -         401 401 401 401 401 401 401 401 401 401
GET    /api-auth/oidc/:key/complete/                             -         401 401 401 401 401 401 401 401 401 401
GET    /api-auth/oidc/:key/logout/                               -         401 401 401 401 401 401 401 401 401 401
POST   /api-auth/oidc/:key/backchannel-logout/                   -         401 401 401 401 401 401 401 401 401 401
GET    /                                                         -         200 200 200 200 200 200 200 200 200 200
GET    /api/                                                     -         200 200 200 200 200 200 200 200 401 401
GET    /api/version/                                             -         200 200 200 200 200 200 200 200 200 200
GET    /api/configuration/                                       -         200 200 200 200 200 200 200 200 200 200
GET    /docs/                                                    -         200 200 200 200 200 200 200 200 200 200

GET    /api/second-factors/                                      -         200 200 200 200 200 200 200 200 401 401
GET    /api/second-factors/:key/                                 own       200 200 200 200 200 200 200 200 401 401
GET    /api/second-factors/:key/                                 foreign   200 404 404 404 404 404 404 404 401 401
PUT    /api/second-factors/:key/                                 own       200 200 200 200 200 200 200 200 401 401
PUT    /api/second-factors/:key/                                 foreign   403 404 404 404 404 404 404 404 401 401
PATCH  /api/second-factors/:key/                                 own       200 200 200 200 200 200 200 200 401 401
PATCH  /api/second-factors/:key/                                 foreign   403 404 404 404 404 404 404 404 401 401
POST   /api/second-factors/totp/                                 -         200 200 200 200 200 200 200 200 401 401
POST   /api/second-factors/totp/confirm/                         -         201 201 201 201 201 201 201 201 401 401
POST   /api/second-factors/passkeys/options/                     -         400 400 400 400 400 400 400 400 401 401
POST   /api/second-factors/passkeys/                             -         400 400 400 400 400 400 400 400 401 401
POST   /api/second-factors/recovery-codes/                       -         200 200 200 200 200 200 200 200 401 401
DELETE /api/second-factors/:key/                                 own       204 204 204 204 204 204 204 204 401 401
DELETE /api/second-factors/:key/                                 foreign   403 404 404 404 404 404 404 404 401 401

GET    /api/sessions/                                            -         200 200 200 200 200 200 200 200 401 401
GET    /api/sessions/:key/                                       own       200 200 200 200 200 200 200 200 401 401
GET    /api/sessions/:key/                                       foreign   200 404 404 404 404 404 404 404 401 401
DELETE /api/sessions/:key/                                       own       204 204 204 204 204 204 204 204 401 401
DELETE /api/sessions/:key/                                       foreign   204 404 404 404 404 404 404 404 401 401
POST   /api/sessions/confirm/                                    -         200 200 200 200 200 200 200 200 401 401
POST   /api/sessions/confirm/options/                            -         400 400 400 400 400 400 400 400 401 401
POST   /api/sessions/end_others/                                 -         204 204 204 204 204 204 204 204 401 401

GET    /api/api-keys/                                            -         200 200 200 200 200 200 200 200 401 401
POST   /api/api-keys/                                            -         201 201 201 201 201 201 201 201 401 401
GET    /api/api-keys/:key/                                       own       200 200 200 200 200 200 200 200 401 401
GET    /api/api-keys/:key/                                       foreign   200 404 404 404 404 404 404 404 401 401
PUT    /api/api-keys/:key/                                       own       200 200 200 200 200 200 200 200 401 401
PUT    /api/api-keys/:key/                                       foreign   403 404 404 404 404 404 404 404 401 401
PATCH  /api/api-keys/:key/                                       own       200 200 200 200 200 200 200 200 401 401
PATCH  /api/api-keys/:key/                                       foreign   403 404 404 404 404 404 404 404 401 401
DELETE /api/api-keys/:key/                                       own       204 204 204 204 204 204 204 204 401 401
DELETE /api/api-keys/:key/                                       foreign   204 404 404 404 404 404 404 404 401 401
POST   /api/api-keys/:key/rotate/                                own       200 200 200 200 200 200 200 200 401 401
POST   /api/api-keys/:key/rotate/                                foreign   403 404 404 404 404 404 404 404 401 401
GET    /api/api-keys/current/                                    -         404 404 404 404 404 404 404 404 401 401
DELETE /api/api-keys/current/                                    -         404 404 404 404 404 404 404 404 401 401
POST   /api/api-keys/revoke_all/                                 -         204 204 204 204 204 204 204 204 401 401
GET    /api/api-keys/scopes/                                     -         200 200 200 200 200 200 200 200 401 401

GET    /api/users/                                               -         200 200 200 200 200 200 200 200 401 401
POST   /api/users/                                               -         201 403 403 403 403 403 403 403 401 401
GET    /api/users/:key/                                          self      200 200 200 200 200 200 200 200 401 401
GET    /api/users/:key/                                          other     200 200 200 200 200 200 200 200 401 401
GET    /api/users/:key/                                          staff     200 200 404 404 404 404 404 404 401 401
PUT    /api/users/:key/                                          self      200 200 200 200 200 200 200 200 401 401
PUT    /api/users/:key/                                          other     200 403 403 403 403 403 403 403 401 401
PUT    /api/users/:key/                                          staff     200 403 404 404 404 404 404 404 401 401
PATCH  /api/users/:key/                                          self      200 200 200 200 200 200 200 200 401 401
PATCH  /api/users/:key/                                          other     200 403 403 403 403 403 403 403 401 401
PATCH  /api/users/:key/                                          staff     200 403 404 404 404 404 404 404 401 401
DELETE /api/users/:key/                                          self      204 403 403 403 403 403 403 403 401 401
DELETE /api/users/:key/                                          other     204 403 403 403 403 403 403 403 401 401
DELETE /api/users/:key/                                          staff     204 403 404 404 404 404 404 404 401 401
POST   /api/users/:key/password/                                 self      200 200 200 200 200 200 200 200 401 401
POST   /api/users/:key/password/                                 other     200 403 403 403 403 403 403 403 401 401
POST   /api/users/:key/password/                                 staff     200 403 404 404 404 404 404 404 401 401
POST   /api/users/:key/claim_organization/                       self      200 200 200 200 200 200 200 200 401 401
POST   /api/users/:key/claim_organization/                       other     200 403 403 403 403 403 403 403 401 401
POST   /api/users/:key/claim_organization/                       staff     200 403 404 404 404 404 404 404 401 401
POST   /api/users/:key/approve_organization/                     self      200 403 200 200 403 403 403 403 401 401
POST   /api/users/:key/approve_organization/                     other     200 403 200 200 403 403 403 403 401 401
POST   /api/users/:key/approve_organization/                     staff     200 403 404 404 404 404 404 404 401 401
POST   /api/users/:key/reject_organization/                      self      200 403 200 200 403 403 403 403 401 401
POST   /api/users/:key/reject_organization/                      other     200 403 200 200 403 403 403 403 401 401
POST   /api/users/:key/reject_organization/                      staff     200 403 404 404 404 404 404 404 401 401
POST   /api/users/:key/remove_organization/                      self      200 200 200 200 200 200 200 200 401 401
POST   /api/users/:key/remove_organization/                      other     200 403 200 200 403 403 403 403 401 401
POST   /api/users/:key/remove_organization/                      staff     200 403 404 404 404 404 404 404 401 401
POST   /api/users/:key/reset_second_factors/                     self      403 403 403 403 403 403 403 403 401 401
POST   /api/users/:key/reset_second_factors/                     other     200 403 403 403 403 403 403 403 401 401
POST   /api/users/:key/reset_second_factors/                     staff     200 403 404 404 404 404 404 404 401 401
POST   /api/users/:key/impersonate/                              self      403 403 403 403 403 403 403 403 401 401
POST   /api/users/:key/impersonate/                              other     201 403 403 403 403 403 403 403 401 401
POST   /api/users/:key/impersonate/                              staff     403 403 404 404 404 404 404 404 401 401
GET    /api/user-counters/                                       -         200 200 200 200 200 200 200 200 401 401

GET    /api/keys/                                                -         200 200 200 200 200 200 200 200 401 401
POST   /api/keys/                                                -         201 201 201 201 201 201 201 201 401 401
GET    /api/keys/:key/                                           own       200 200 200 200 200 200 200 200 401 401
GET    /api/keys/:key/                                           foreign   200 200 404 404 404 404 404 404 401 401
DELETE /api/keys/:key/                                           own       204 204 204 204 204 204 204 204 401 401
DELETE /api/keys/:key/                                           foreign   204 403 404 404 404 404 404 404 401 401

GET    /api/customers/                                           -         200 200 200 200 200 200 200 200 401 401
POST   /api/customers/                                           -         201 403 403 403 403 403 403 403 401 401
GET    /api/customers/:key/                                      own       200 200 200 200 200 200 200 404 401 401
GET    /api/customers/:key/                                      foreign   200 200 404 404 404 404 404 404 401 401
PUT    /api/customers/:key/                                      own       200 403 403 403 403 403 403 404 401 401
PUT    /api/customers/:key/                                      foreign   200 403 404 404 404 404 404 404 401 401
PATCH  /api/customers/:key/                                      own       200 403 403 403 403 403 403 404 401 401
PATCH  /api/customers/:key/                                      foreign   200 403 404 404 404 404 404 404 401 401
DELETE /api/customers/:key/                                      own       409 403 403 403 403 403 403 404 401 401
DELETE /api/customers/:key/                                      foreign   409 403 404 404 404 404 404 404 401 401
GET    /api/customers/:key/users/                                own       200 200 200 200 200 200 200 404 401 401
GET    /api/customers/:key/users/                                foreign   200 200 404 404 404 404 404 404 401 401
GET    /api/customers/:key/counters/                             own       200 200 200 200 200 200 200 404 401 401
GET    /api/customers/:key/counters/                             foreign   200 200 404 404 404 404 404 404 401 401
GET    /api/customers/:key/image/                                own       200 200 200 200 200 200 200 404 401 401
GET    /api/customers/:key/image/                                foreign   200 200 404 404 404 404 404 404 401 401
PUT    /api/customers/:key/image/                                own       200 403 200 403 403 403 403 404 401 401
PUT    /api/customers/:key/image/                                foreign   200 403 404 404 404 404 404 404 401 401
PATCH  /api/customers/:key/image/                                own       200 403 200 403 403 403 403 404 401 401
PATCH  /api/customers/:key/image/                                foreign   200 403 404 404 404 404 404 404 401 401
DELETE /api/customers/:key/image/                                own       204 403 204 403 403 403 403 404 401 401
DELETE /api/customers/:key/image/                                foreign   204 403 404 404 404 404 404 404 401 401

GET    /api/projects/                                            -         200 200 200 200 200 200 200 200 401 401
POST   /api/projects/                                            own       201 403 201 403 403 403 403 400 401 401
POST   /api/projects/                                            foreign   201 403 400 400 400 400 400 400 401 401
GET    /api/projects/:key/                                       own       200 200 200 200 200 200 200 404 401 401
GET    /api/projects/:key/                                       foreign   200 200 404 404 404 404 404 404 401 401
PUT    /api/projects/:key/                                       own       200 403 200 403 403 403 403 404 401 401
PUT    /api/projects/:key/                                       foreign   200 403 404 404 404 404 404 404 401 401
PATCH  /api/projects/:key/                                       own       200 403 200 403 403 403 403 404 401 401
PATCH  /api/projects/:key/                                       foreign   200 403 404 404 404 404 404 404 401 401
DELETE /api/projects/:key/                                       own       204 403 204 403 403 403 403 404 401 401
DELETE /api/projects/:key/                                       foreign   204 403 404 404 404 404 404 404 401 401
GET    /api/projects/:key/users/                                 own       200 200 200 200 200 200 200 404 401 401
GET    /api/projects/:key/users/                                 foreign   200 200 404 404 404 404 404 404 401 401
GET    /api/projects/:key/counters/                              own       200 200 200 200 200 200 200 404 401 401
GET    /api/projects/:key/counters/                              foreign   200 200 404 404 404 404 404 404 401 401
POST   /api/projects/:key/update_certifications/                 own       200 403 200 403 403 403 403 404 401 401
POST   /api/projects/:key/update_certifications/                 foreign   200 403 404 404 404 404 404 404 401 401

GET    /api/customer-permissions/                                -         200 200 200 200 200 200 200 200 401 401
POST   /api/customer-permissions/                                own       201 403 403 403 403 403 403 400 401 401
POST   /api/customer-permissions/                                foreign   201 403 400 400 400 400 400 400 401 401
GET    /api/customer-permissions/:key/                           own       200 200 200 200 200 200 200 404 401 401
GET    /api/customer-permissions/:key/                           foreign   200 200 404 404 404 404 404 404 401 401
PUT    /api/customer-permissions/:key/                           own       200 403 403 403 403 403 403 404 401 401
PUT    /api/customer-permissions/:key/                           foreign   200 403 404 404 404 404 404 404 401 401
PATCH  /api/customer-permissions/:key/                           own       200 403 403 403 403 403 403 404 401 401
PATCH  /api/customer-permissions/:key/                           foreign   200 403 404 404 404 404 404 404 401 401
DELETE /api/customer-permissions/:key/                           own       204 403 403 403 403 403 403 404 401 401
DELETE /api/customer-permissions/:key/                           foreign   204 403 404 404 404 404 404 404 401 401
GET    /api/customer-permissions-log/                            -         200 200 200 200 200 200 200 200 401 401
GET    /api/customer-permissions-log/:key/                       own       200 200 200 200 404 404 404 404 401 401
GET    /api/customer-permissions-log/:key/                       foreign   200 200 404 404 404 404 404 404 401 401

GET    /api/project-permissions/                                 -         200 200 200 200 200 200 200 200 401 401
POST   /api/project-permissions/                                 own       201 403 201 403 403 403 403 400 401 401
POST   /api/project-permissions/                                 foreign   201 403 400 400 400 400 400 400 401 401
GET    /api/project-permissions/:key/                            own       200 200 200 404 404 404 404 404 401 401
GET    /api/project-permissions/:key/                            foreign   200 200 404 404 404 404 404 404 401 401
PUT    /api/project-permissions/:key/                            own       200 403 200 403 403 403 403 404 401 401
PUT    /api/project-permissions/:key/                            foreign   200 403 404 404 404 404 404 404 401 401
PUT    /api/project-permissions/:key/                            self      .   .   .   .   403 403 403 .   .   .
PATCH  /api/project-permissions/:key/                            own       200 403 200 403 403 403 403 404 401 401
PATCH  /api/project-permissions/:key/                            foreign   200 403 404 404 404 404 404 404 401 401
DELETE /api/project-permissions/:key/                            own       204 403 204 403 403 403 403 404 401 401
DELETE /api/project-permissions/:key/                            foreign   204 403 404 404 404 404 404 404 401 401
DELETE /api/project-permissions/:key/                            self      .   .   .   .   403 403 403 .   .   .
GET    /api/project-permissions-log/                             -         200 200 200 200 200 200 200 200 401 401
GET    /api/project-permissions-log/:key/                        own       200 200 200 404 404 404 404 404 401 401
GET    /api/project-permissions-log/:key/                        foreign   200 200 404 404 404 404 404 404 401 401

GET    /api/quotas/                                              -         200 200 200 200 200 200 200 200 401 401
GET    /api/quotas/:key/                                         customer  200 200 200 200 200 200 200 404 401 401
GET    /api/quotas/:key/                                         project   200 200 200 200 200 200 200 404 401 401
GET    /api/quotas/:key/                                         foreign   200 200 404 404 404 404 404 404 401 401
GET    /api/quotas/:key/                                         global    200 200 404 404 404 404 404 404 401 401
PUT    /api/quotas/:key/                                         customer  200 403 403 403 403 403 403 404 401 401
PUT    /api/quotas/:key/                                         project   200 403 200 403 403 403 403 404 401 401
PUT    /api/quotas/:key/                                         foreign   200 403 404 404 404 404 404 404 401 401
PUT    /api/quotas/:key/                                         global    200 403 404 404 404 404 404 404 401 401
PATCH  /api/quotas/:key/                                         customer  200 403 403 403 403 403 403 404 401 401
PATCH  /api/quotas/:key/                                         project   200 403 200 403 403 403 403 404 401 401
PATCH  /api/quotas/:key/                                         foreign   200 403 404 404 404 404 404 404 401 401
PATCH  /api/quotas/:key/                                         global    200 403 404 404 404 404 404 404 401 401
GET    /api/quotas/:key/history/                                 customer  200 200 200 200 200 200 200 404 401 401
GET    /api/quotas/:key/history/                                 foreign   200 200 404 404 404 404 404 404 401 401
GET    /api/quotas/:key/history/                                 global    200 200 404 404 404 404 404 404 401 401

GET    /api/alerts/                                              -         200 200 200 200 200 200 200 200 401 401
POST   /api/alerts/                                              own       201 403 403 403 403 403 403 403 401 401
GET    /api/alerts/stats/                                        -         200 200 200 200 200 200 200 200 401 401
GET    /api/alerts/alert_groups/                                 -         200 200 200 200 200 200 200 200 401 401
GET    /api/alerts/:key/                                         own       200 200 200 200 200 200 200 404 401 401
GET    /api/alerts/:key/                                         foreign   200 200 404 404 404 404 404 404 401 401
POST   /api/alerts/:key/                                         own       200 403 403 403 403 403 403 404 401 401
POST   /api/alerts/:key/                                         foreign   200 403 404 404 404 404 404 404 401 401
POST   /api/alerts/:key/acknowledge/                             own       200 200 200 200 200 200 200 404 401 401
POST   /api/alerts/:key/acknowledge/                             foreign   200 200 404 404 404 404 404 404 401 401
POST   /api/alerts/:key/cancel_acknowledgment/                   own       200 200 200 200 200 200 200 404 401 401
POST   /api/alerts/:key/cancel_acknowledgment/                   foreign   200 200 404 404 404 404 404 404 401 401
POST   /api/alerts/:key/close/                                   own       204 403 403 403 403 403 403 404 401 401
POST   /api/alerts/:key/close/                                   foreign   204 403 404 404 404 404 404 404 401 401
GET    /api/stats/alerts/                                        -         200 200 200 200 200 200 200 200 401 401
POST   /api/stats/alerts/                                        own       201 403 403 403 403 403 403 403 401 401
GET    /api/stats/creation-time/                                 -         200 200 200 200 200 200 200 200 401 401
GET    /api/stats/quota/                                         -         200 200 200 200 200 200 200 200 401 401
GET    /api/stats/quota/timeline/                                -         200 200 200 200 200 200 200 200 401 401

GET    /api/events/                                              -         200 200 200 200 200 200 200 200 401 401
POST   /api/events/                                              own       201 403 403 403 403 403 403 403 401 401
GET    /api/events/count/                                        -         200 200 200 200 200 200 200 200 401 401
GET    /api/events/count_history/                                -         200 200 200 200 200 200 200 200 401 401
GET    /api/events/count/history/                                -         200 200 200 200 200 200 200 200 401 401
POST   /api/events/count/history/                                -         200 200 200 200 200 200 200 200 401 401
GET    /api/events/event_groups/                                 -         200 200 200 200 200 200 200 200 401 401
GET    /api/events/scope_types/                                  -         200 200 200 200 200 200 200 200 401 401
GET    /api/events/stream/                                       -         200 200 200 200 200 200 200 200 401 401

GET    /api/operation/                                           -         200 200 403 403 403 403 403 403 401 401
GET    /api/audit/                                               -         200 403 200 403 403 403 403 403 401 401
GET    /api/audit/export/                                        -         200 403 403 403 403 403 403 403 401 401
GET    /api/audit/key/                                           -         200 403 200 403 403 403 403 403 401 401
GET    /api/operation/doctor/                                    -         200 403 403 403 403 403 403 403 401 401
POST   /api/operation/doctor/                                    -         202 403 403 403 403 403 403 403 401 401
POST   /api/operation/login-check/                               -         200 403 403 403 403 403 403 403 401 401
GET    /api/deployment-settings/                                 -         200 403 403 403 403 403 403 403 401 401
GET    /api/backups/                                             -         200 403 403 403 403 403 403 403 401 401
POST   /api/backups/                                             -         409 403 403 403 403 403 403 403 401 401
GET    /api/backups/:key/                                        any       404 404 404 404 404 404 404 404 401 401
DELETE /api/backups/:key/                                        any       404 404 404 404 404 404 404 404 401 401
GET    /api/backups/:key/content/                                any       404 404 404 404 404 404 404 404 401 401
GET    /api/outbox/                                              -         200 200 403 403 403 403 403 403 401 401
GET    /api/outbox/:key/                                         any       200 200 404 404 404 404 404 404 401 401
POST   /api/outbox/:key/retry/                                   any       202 403 404 404 404 404 404 404 401 401
GET    /api/jobs/                                                -         200 200 403 403 403 403 403 403 401 401
GET    /api/jobs/:key/                                           any       200 200 404 404 404 404 404 404 401 401
POST   /api/jobs/:key/run/                                       any       202 403 404 404 404 404 404 404 401 401
GET    /api/simulator/                                           -         200 403 403 403 403 403 403 403 401 401
POST   /api/simulator/fail_next/                                 -         200 403 403 403 403 403 403 403 401 401
POST   /api/simulator/drift/                                     -         400 403 403 403 403 403 403 403 401 401
POST   /api/simulator/advance/                                   -         200 403 403 403 403 403 403 403 401 401

GET    /api/hooks/                                               -         200 200 200 200 200 200 200 200 401 401
GET    /api/hooks/stats/                                         -         200 200 200 200 200 200 200 200 401 401
GET    /api/users/stats/                                         -         200 200 200 200 200 200 200 200 401 401
GET    /api/hooks-web/                                           -         200 200 200 200 200 200 200 200 401 401
POST   /api/hooks-web/                                           -         201 201 201 201 201 201 201 201 401 401
GET    /api/hooks-web/:key/                                      own       200 200 200 200 200 200 200 200 401 401
GET    /api/hooks-web/:key/                                      foreign   200 200 404 404 404 404 404 404 401 401
PUT    /api/hooks-web/:key/                                      own       200 200 200 200 200 200 200 200 401 401
PUT    /api/hooks-web/:key/                                      foreign   200 403 404 404 404 404 404 404 401 401
PATCH  /api/hooks-web/:key/                                      own       200 200 200 200 200 200 200 200 401 401
PATCH  /api/hooks-web/:key/                                      foreign   200 403 404 404 404 404 404 404 401 401
DELETE /api/hooks-web/:key/                                      own       204 204 204 204 204 204 204 204 401 401
DELETE /api/hooks-web/:key/                                      foreign   204 403 404 404 404 404 404 404 401 401
GET    /api/hooks-push/                                          -         200 200 200 200 200 200 200 200 401 401
POST   /api/hooks-push/                                          -         201 201 201 201 201 201 201 201 401 401
GET    /api/hooks-push/:key/                                     own       200 200 200 200 200 200 200 200 401 401
GET    /api/hooks-push/:key/                                     foreign   200 200 404 404 404 404 404 404 401 401
PUT    /api/hooks-push/:key/                                     own       200 200 200 200 200 200 200 200 401 401
PUT    /api/hooks-push/:key/                                     foreign   200 403 404 404 404 404 404 404 401 401
PATCH  /api/hooks-push/:key/                                     own       200 200 200 200 200 200 200 200 401 401
PATCH  /api/hooks-push/:key/                                     foreign   200 403 404 404 404 404 404 404 401 401
DELETE /api/hooks-push/:key/                                     own       204 204 204 204 204 204 204 204 401 401
DELETE /api/hooks-push/:key/                                     foreign   204 403 404 404 404 404 404 404 401 401
GET    /api/hooks-email/                                         -         200 200 200 200 200 200 200 200 401 401
POST   /api/hooks-email/                                         -         201 201 201 201 201 201 201 201 401 401
GET    /api/hooks-email/:key/                                    own       200 200 200 200 200 200 200 200 401 401
GET    /api/hooks-email/:key/                                    foreign   200 200 404 404 404 404 404 404 401 401
PUT    /api/hooks-email/:key/                                    own       200 200 200 200 200 200 200 200 401 401
PUT    /api/hooks-email/:key/                                    foreign   200 403 404 404 404 404 404 404 401 401
PATCH  /api/hooks-email/:key/                                    own       200 200 200 200 200 200 200 200 401 401
PATCH  /api/hooks-email/:key/                                    foreign   200 403 404 404 404 404 404 404 401 401
DELETE /api/hooks-email/:key/                                    own       204 204 204 204 204 204 204 204 401 401
DELETE /api/hooks-email/:key/                                    foreign   204 403 404 404 404 404 404 404 401 401
POST   /api/hooks-web/:key/rotate_secret/                        own       200 200 200 200 200 200 200 200 401 401
POST   /api/hooks-web/:key/rotate_secret/                        foreign   200 403 404 404 404 404 404 404 401 401
POST   /api/hooks-web/:key/recover/                              own       202 202 202 202 202 202 202 202 401 401
POST   /api/hooks-web/:key/recover/                              foreign   202 403 404 404 404 404 404 404 401 401
POST   /api/hooks-web/:key/test/                                 own       202 202 202 202 202 202 202 202 401 401
POST   /api/hooks-web/:key/test/                                 foreign   202 403 404 404 404 404 404 404 401 401
GET    /api/hooks-web/:key/deliveries/                           own       200 200 200 200 200 200 200 200 401 401
GET    /api/hooks-web/:key/deliveries/                           foreign   200 200 404 404 404 404 404 404 401 401
GET    /api/hooks-web/:key/deliveries/:delivery/                 own       200 200 200 200 200 200 200 200 401 401
GET    /api/hooks-web/:key/deliveries/:delivery/                 foreign   200 200 404 404 404 404 404 404 401 401
POST   /api/hooks-web/:key/deliveries/:delivery/redeliver/       own       409 409 409 409 409 409 409 409 401 401
POST   /api/hooks-web/:key/deliveries/:delivery/redeliver/       foreign   409 403 404 404 404 404 404 404 401 401
GET    /docs/manual/                                            -         200 200 200 200 200 200 200 200 200 200
GET    /docs/manual/:key/                                       -         404 404 404 404 404 404 404 404 404 404
GET    /console/app.js/                                          -         200 200 200 200 200 200 200 200 200 200
GET    /console/et.js/                                           -         200 200 200 200 200 200 200 200 200 200
GET    /console/style.css/                                       -         200 200 200 200 200 200 200 200 200 200
GET    /api/notifications/                                       -         200 200 200 200 200 200 200 200 401 401
GET    /api/notifications/:key/                                  own       200 200 200 200 200 200 200 200 401 401
GET    /api/notifications/:key/                                  foreign   404 404 404 404 404 404 404 404 401 401
POST   /api/notifications/:key/read/                             own       204 204 204 204 204 204 204 204 401 401
POST   /api/notifications/:key/read/                             foreign   404 404 404 404 404 404 404 404 401 401
POST   /api/notifications/read_all/                              -         204 204 204 204 204 204 204 204 401 401
GET    /api/notification-preferences/                            -         200 200 200 200 200 200 200 200 401 401
PUT    /api/notification-preferences/                            -         200 200 200 200 200 200 200 200 401 401
PATCH  /api/notification-preferences/                            -         200 200 200 200 200 200 200 200 401 401
GET    /notifications/unsubscribe/:key/                          -         404 404 404 404 404 404 404 404 404 404
POST   /notifications/unsubscribe/:key/                          -         404 404 404 404 404 404 404 404 404 404
GET    /hooks/confirm/:key/                                      -         404 404 404 404 404 404 404 404 404 404
POST   /hooks/confirm/:key/                                      -         404 404 404 404 404 404 404 404 404 404
GET    /hooks/unsubscribe/:key/                                  -         404 404 404 404 404 404 404 404 404 404
POST   /hooks/unsubscribe/:key/                                  -         404 404 404 404 404 404 404 404 404 404

GET    /api/service-certifications/                              -         200 200 200 200 200 200 200 200 401 401
POST   /api/service-certifications/                              -         201 403 403 403 403 403 403 403 401 401
GET    /api/service-certifications/:key/                         any       200 200 200 200 200 200 200 200 401 401
PUT    /api/service-certifications/:key/                         any       200 403 403 403 403 403 403 403 401 401
PATCH  /api/service-certifications/:key/                         any       200 403 403 403 403 403 403 403 401 401
DELETE /api/service-certifications/:key/                         any       204 403 403 403 403 403 403 403 401 401

GET    /api/service-metadata/                                    -         200 200 200 200 200 200 200 200 401 401
GET    /api/service-settings/                                    -         200 200 200 200 200 200 200 200 401 401
POST   /api/service-settings/                                    own       201 403 201 403 403 403 403 400 401 401
POST   /api/service-settings/                                    foreign   201 403 400 400 400 400 400 400 401 401
GET    /api/service-settings/:key/                               own       200 200 200 200 404 404 404 404 401 401
GET    /api/service-settings/:key/                               shared    200 200 200 200 200 200 200 200 401 401
GET    /api/service-settings/:key/                               foreign   200 200 404 404 404 404 404 404 401 401
PUT    /api/service-settings/:key/                               own       200 403 200 403 404 404 404 404 401 401
PUT    /api/service-settings/:key/                               shared    200 403 403 403 403 403 403 403 401 401
PUT    /api/service-settings/:key/                               foreign   200 403 404 404 404 404 404 404 401 401
PATCH  /api/service-settings/:key/                               own       200 403 200 403 404 404 404 404 401 401
PATCH  /api/service-settings/:key/                               shared    200 403 403 403 403 403 403 403 401 401
PATCH  /api/service-settings/:key/                               foreign   200 403 404 404 404 404 404 404 401 401
DELETE /api/service-settings/:key/                               own       204 403 204 403 404 404 404 404 401 401
DELETE /api/service-settings/:key/                               shared    204 403 403 403 403 403 403 403 401 401
DELETE /api/service-settings/:key/                               foreign   204 403 404 404 404 404 404 404 401 401
GET    /api/service-settings/:key/stats/                         own       200 200 200 200 404 404 404 404 401 401
GET    /api/service-settings/:key/stats/                         shared    200 200 403 403 403 403 403 403 401 401
GET    /api/service-settings/:key/stats/                         foreign   200 200 404 404 404 404 404 404 401 401
GET    /api/service-settings/:key/usage/                         own       200 200 403 403 404 404 404 404 401 401
GET    /api/service-settings/:key/usage/                         shared    200 200 403 403 403 403 403 403 401 401
GET    /api/service-settings/:key/usage/                         foreign   200 200 404 404 404 404 404 404 401 401
GET    /api/service-settings/:key/sync/                          own       200 200 200 200 404 404 404 404 401 401
GET    /api/service-settings/:key/sync/                          shared    200 200 200 200 200 200 200 200 401 401
GET    /api/service-settings/:key/sync/                          foreign   200 200 404 404 404 404 404 404 401 401
POST   /api/service-settings/:key/pull/                          own       ok  403 ok  403 404 404 404 404 401 401
POST   /api/service-settings/:key/pull/                          shared    ok  403 403 403 403 403 403 403 401 401
POST   /api/service-settings/:key/pull/                          foreign   ok  403 404 404 404 404 404 404 401 401
POST   /api/service-settings/:key/update_certifications/         own       200 403 200 403 404 404 404 404 401 401
POST   /api/service-settings/:key/update_certifications/         shared    200 403 403 403 403 403 403 403 401 401
POST   /api/service-settings/:key/update_certifications/         foreign   200 403 404 404 404 404 404 404 401 401
GET    /api/services/                                            -         200 200 200 200 200 200 200 200 401 401

GET    /api/resources/                                           -         200 200 200 200 200 200 200 200 401 401
GET    /api/resources/count/                                     -         200 200 200 200 200 200 200 200 401 401
GET    /api/resource-sla/                                        -         200 200 200 200 200 200 200 200 401 401
PUT    /api/resource-sla/                                        -         400 403 403 403 403 403 403 403 401 401
DELETE /api/resource-sla/                                        -         400 403 403 403 403 403 403 403 401 401
GET    /api/monitoring-items/                                    -         200 200 200 200 200 200 200 200 401 401
GET    /api/monitoring-items/history/                            -         200 200 200 200 200 200 200 200 401 401
PUT    /api/monitoring-items/                                    -         400 403 403 403 403 403 403 403 401 401
DELETE /api/monitoring-items/                                    -         400 403 403 403 403 403 403 403 401 401

DELETE /api/jira-projects/:key/                                  own       ok  403 403 403 403 403 403 404 401 401
DELETE /api/jira-projects/:key/                                  foreign   ok  403 404 404 404 404 404 404 401 401
POST   /api/jira-projects/:key/unlink/                           own       ok  403 403 403 403 403 403 404 401 401
POST   /api/jira-projects/:key/unlink/                           foreign   ok  403 404 404 404 404 404 404 401 401
POST   /api/openstack-tenants/:key/set_quotas/                   own       ok  403 403 403 403 403 403 404 401 401
POST   /api/openstack-tenants/:key/set_quotas/                   foreign   ok  403 404 404 404 404 404 404 401 401
POST   /api/jira-webhook-receiver/                               -         403 403 403 403 403 403 403 403 403 403

GET    /api/service-accounts/                                    -         200 200 200 200 200 200 200 200 401 401
POST   /api/service-accounts/                                    own       201 403 201 403 201 403 403 400 401 401
POST   /api/service-accounts/                                    customer  201 403 403 403 403 403 403 400 401 401
POST   /api/service-accounts/                                    foreign   201 403 400 400 400 400 400 400 401 401
GET    /api/service-accounts/:key/                               own       200 200 200 404 200 404 404 404 401 401
GET    /api/service-accounts/:key/                               customer  200 200 404 404 404 404 404 404 401 401
GET    /api/service-accounts/:key/                               foreign   200 200 404 404 404 404 404 404 401 401
PUT    /api/service-accounts/:key/                               own       200 403 200 404 200 404 404 404 401 401
PUT    /api/service-accounts/:key/                               customer  200 403 404 404 404 404 404 404 401 401
PUT    /api/service-accounts/:key/                               foreign   200 403 404 404 404 404 404 404 401 401
PATCH  /api/service-accounts/:key/                               own       200 403 200 404 200 404 404 404 401 401
PATCH  /api/service-accounts/:key/                               customer  200 403 404 404 404 404 404 404 401 401
PATCH  /api/service-accounts/:key/                               foreign   200 403 404 404 404 404 404 404 401 401
DELETE /api/service-accounts/:key/                               own       204 403 204 404 204 404 404 404 401 401
DELETE /api/service-accounts/:key/                               customer  204 403 404 404 404 404 404 404 401 401
DELETE /api/service-accounts/:key/                               foreign   204 403 404 404 404 404 404 404 401 401

GET    /api/user-invitations/                                    -         200 200 200 200 200 200 200 200 401 401
POST   /api/user-invitations/                                    own       201 403 201 403 403 403 403 400 401 401
POST   /api/user-invitations/                                    customer  201 403 403 403 403 403 403 400 401 401
POST   /api/user-invitations/                                    foreign   201 403 400 400 400 400 400 400 401 401
GET    /api/user-invitations/:key/                               own       200 404 200 404 404 404 404 404 401 401
GET    /api/user-invitations/:key/                               customer  200 404 404 404 404 404 404 404 401 401
GET    /api/user-invitations/:key/                               foreign   200 404 404 404 404 404 404 404 401 401
POST   /api/user-invitations/:key/cancel/                        own       200 404 200 404 404 404 404 404 401 401
POST   /api/user-invitations/:key/cancel/                        customer  200 404 404 404 404 404 404 404 401 401
POST   /api/user-invitations/:key/cancel/                        foreign   200 404 404 404 404 404 404 404 401 401
POST   /api/user-invitations/:key/send/                          own       200 404 200 404 404 404 404 404 401 401
POST   /api/user-invitations/:key/send/                          customer  200 404 404 404 404 404 404 404 401 401
POST   /api/user-invitations/:key/send/                          foreign   200 404 404 404 404 404 404 404 401 401
POST   /api/user-invitations/:key/accept/                        own       200 200 200 200 400 400 400 200 401 401
POST   /api/user-invitations/:key/accept/                        customer  200 200 400 400 200 200 200 200 401 401
POST   /api/user-invitations/:key/accept/                        foreign   200 200 200 200 200 200 200 200 401 401
POST   /api/user-invitations/:key/check/                         own       200 200 200 200 200 200 200 200 200 200
POST   /api/user-invitations/:key/check/                         foreign   200 200 200 200 200 200 200 200 200 200
`;

/** Rights of owners with the settings owners_can_manage_customers and owners_can_manage_owners. */
const tableOfOwners = `
                                                                           ST  GS  CO  CS  PM  PA  PS  UN  IN  AN
POST   /api/customers/                                           -         201 403 403 403 403 403 403 403 401 401
PUT    /api/customers/:key/                                      own       200 403 200 403 403 403 403 404 401 401
PUT    /api/customers/:key/                                      foreign   200 403 404 404 404 404 404 404 401 401
PATCH  /api/customers/:key/                                      own       200 403 200 403 403 403 403 404 401 401
DELETE /api/customers/:key/                                      own       409 403 409 403 403 403 403 404 401 401
POST   /api/customer-permissions/                                own       201 403 201 403 403 403 403 400 401 401
POST   /api/customer-permissions/                                foreign   201 403 400 400 400 400 400 400 401 401
PUT    /api/customer-permissions/:key/                           own       200 403 200 403 403 403 403 404 401 401
PUT    /api/customer-permissions/:key/                           foreign   200 403 404 404 404 404 404 404 401 401
PUT    /api/customer-permissions/:key/                           self      .   .   403 403 .   .   .   .   .   .
PATCH  /api/customer-permissions/:key/                           own       200 403 200 403 403 403 403 404 401 401
PATCH  /api/customer-permissions/:key/                           self      .   .   403 403 .   .   .   .   .   .
DELETE /api/customer-permissions/:key/                           own       204 403 204 403 403 403 403 404 401 401
DELETE /api/customer-permissions/:key/                           foreign   204 403 404 404 404 404 404 404 401 401
DELETE /api/customer-permissions/:key/                           self      .   .   204 403 .   .   .   .   .   .
PATCH  /api/quotas/:key/                                         customer  200 403 403 403 403 403 403 404 401 401
POST   /api/service-accounts/                                    customer  201 403 201 403 403 403 403 400 401 401
GET    /api/service-accounts/:key/                               customer  200 200 200 404 404 404 404 404 401 401
PATCH  /api/service-accounts/:key/                               customer  200 403 200 404 404 404 404 404 401 401
DELETE /api/service-accounts/:key/                               customer  204 403 204 404 404 404 404 404 401 401
POST   /api/user-invitations/                                    customer  201 403 201 403 403 403 403 400 401 401
POST   /api/user-invitations/:key/cancel/                        customer  200 404 200 404 404 404 404 404 401 401
POST   /api/user-invitations/:key/send/                          customer  200 404 200 404 404 404 404 404 401 401
POST   /api/user-invitations/:key/send/                          foreign   200 404 404 404 404 404 404 404 401 401
`;

interface Row {
  readonly method: string;
  readonly path: string;
  /** The word for the object; `-` for none. */
  readonly object: string;
  readonly statuses: Readonly<Partial<Record<Column, Expected>>>;
}

/** Whether a status is the expected one. */
type Expected = number | 'ok';

const rejectedStatuses = [401, 403, 404, 405, 500];

function rowsOf(text: string): Row[] {
  const lines = text
    .split('\n')
    .slice(2)
    .filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [method, path, object, ...cells] = line.trim().split(/\s+/) as [string, string, string, ...string[]];
    assert.is(cells.length, columns.length, line);
    const statuses = columns.flatMap((column, index) =>
      cells[index] === '.' ? [] : [[column, cells[index] === 'ok' ? 'ok' : Number(cells[index])] as const],
    );
    return { method, path, object, statuses: Object.fromEntries(statuses) };
  });
}

const rows = [...rowsOf(table), ...rowsOf(providedLines(table))];

const rejections: Readonly<Record<number, unknown>> = {
  403: { detail: 'You do not have permission to perform this action.' },
  404: { detail: 'Not found.' },
};

const missingKey = (path: string): string => (/-permissions|\/jobs\//.test(path) ? '999999' : '0'.repeat(32));

const methodsOf = (path: string): string[] =>
  Object.keys(endpoints.find((endpoint) => endpoint.path === path)?.operations ?? {});

/** Builds the Allow header of a path from the rows of the table. */
function allowOf(path: string): string {
  const served = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) =>
    rows.some((row) => row.method === method && row.path === path),
  );
  return [...served, ...(served.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}

/** The path of a row's object for a caller. */
function pathOf({ keys }: Situation, { path, object }: Pick<Row, 'path' | 'object'>, column: Column): string {
  const keyOf = (collection: string): string => {
    const ofObject = keys[collection]?.[object];
    return (typeof ofObject === 'object' ? ofObject[column] : ofObject) ?? '0'.repeat(32);
  };
  return (
    path.replace(':key', () => keyOf(path.split('/')[2] as string)).replace(':delivery', () => keyOf('deliveries')) +
    (queries[path] ?? '')
  );
}

/** Whether all callers request the same object. */
const isShared = ({ path, object }: Row): boolean =>
  typeof place.keys[path.split('/')[2] as string]?.[object] === 'string';

let place: Situation;
/** Whether a request has removed an object that later requests may need. */
let isSpoiled = false;

/** Objects are deleted, sessions end and roles are granted. An image and an open alert are restored before each request. */
const needsRestore = ({ method, path }: Row): boolean =>
  (method === 'DELETE' && !path.endsWith('/image/') && !isProvided(path)) ||
  path === '/api-auth/logout/' ||
  path === '/api/sessions/end_others/' ||
  path.endsWith('/accept/');

async function open(options: ServerOptions = {}): Promise<void> {
  await place?.fixture.close();
  place = await situation(options);
  isSpoiled = false;
}

async function renew(): Promise<void> {
  await restore(place);
  isSpoiled = false;
}

const test = suite('rights');

test.before(() => open());
test.after(() => place.fixture.close());

test('has rows for every method of every path', () => {
  const served = endpoints.flatMap(({ path }) => methodsOf(path).map((method) => `${method} ${path}`)).sort();
  assert.equal([...new Set(rows.map(({ method, path }) => `${method} ${path}`))].sort(), served);
});

/** Sends requests as all callers. Staff come last, so that their deletions do not affect other callers. */
async function check(row: Row): Promise<void> {
  const { method, path, object, statuses } = row;
  if (isSpoiled) await renew();
  let provided: string | undefined;
  for (const [column, expected] of (Object.entries(statuses) as [Column, Expected][]).reverse()) {
    if (isSpoiled && isShared(row)) await renew();
    if (isProvided(path) && path.includes(':key')) provided ??= newKeyOf(place, path, object);
    const url = provided === undefined ? pathOf(place, row, column) : path.replace(':key', provided);
    const body = isProvided(path)
      ? await providedBody(place, method, path, object)
      : await bodies[`${method} ${path}`]?.(place, object, url);
    place.fixture.events();
    const response = await place.clients[column].send(method, url, body);
    const who = `${column} ${method} ${path} ${object}`;
    const { status } = response;
    if (expected === 'ok') assert.not(rejectedStatuses.includes(status), `${who}: ${status}`);
    else assert.is(status, expected, who);
    assert.is(response.headers.get('Allow'), allowOf(path), who);
    if (status in rejections) assert.equal(response.body, rejections[status], who);
    if (status >= 400) assert.equal(place.fixture.events(), [], `${who} causes no event`);
    if (method === 'GET') await checkReading(column, url, status, who);
    isSpoiled ||= status < 300 && needsRestore(row);
    // Create the objects of providers again after every change.
    if (method !== 'GET' && status < 300) provided = undefined;
  }
}

/** Paths that allow GET also allow HEAD and OPTIONS. */
async function checkReading(column: Column, url: string, status: number, who: string): Promise<void> {
  assert.is((await place.clients[column].send('HEAD', url)).status, status, `${who} by HEAD`);
  // OPTIONS describes a visible object even to callers without the right.
  if (status !== 403) assert.is((await place.clients[column].send('OPTIONS', url)).status, status, `${who} by OPTIONS`);
}

for (const path of new Set(rows.map((row) => row.path))) {
  test(`${path}: grants each caller the rights in the table`, async () => {
    for (const row of rows.filter((one) => one.path === path)) await check(row);
  });
}

/** The message of login methods that the settings have not enabled. */
const disabledMethod = 'Authentication method is disabled. Please use another authentication method or contact staff.';

test('responds alike to missing objects, invalid keys and invisible objects', async () => {
  if (isSpoiled) await renew();
  const seen = new Set<string>();
  for (const row of rows.filter(({ path }) => path.includes(':key'))) {
    if (seen.has(`${row.method} ${row.path}`)) continue;
    seen.add(`${row.method} ${row.path}`);
    for (const key of [missingKey(row.path), 'nothing']) {
      for (const column of isProvided(row.path) ? (['ST', 'CO', 'AN'] as const) : columns) {
        const response = await place.clients[column].send(
          row.method,
          row.path.replace(':key', key).replace(':delivery', '0'.repeat(32)),
        );
        const isOpen = endpoints.find(({ path }) => path === row.path)?.open;
        const expected = row.path.startsWith('/api-auth/oidc/')
          ? [401, { detail: disabledMethod }]
          : isOpen
            ? [404, rejections[404]]
            : column === 'IN'
              ? [401, { detail: 'User inactive or deleted.' }]
              : column === 'AN'
                ? [401, { detail: 'Authentication credentials were not provided.' }]
                : [404, rejections[404]];
        assert.equal([response.status, response.body], expected, `${column} ${row.method} ${row.path} of ${key}`);
      }
    }
  }
});

test('responds 405 with the served methods to another method, also for a missing object', async () => {
  if (isSpoiled) await renew();
  for (const { path, open } of endpoints) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((one) => !methodsOf(path).includes(one))) {
      for (const column of open ? (['AN'] as const) : (['ST', 'UN'] as const)) {
        const response = await place.clients[column].send(
          method,
          path.replace(':key', missingKey(path)).replace(':delivery', '0'.repeat(32)),
        );
        const expected = [405, { detail: `Method "${method}" not allowed.` }, allowOf(path)];
        assert.equal(
          [response.status, response.body, response.headers.get('Allow')],
          expected,
          `${column} ${method} ${path}`,
        );
      }
      if (!open) assert.is((await place.clients.AN.send(method, path)).status, 401, `AN ${method} ${path}`);
    }
  }
});

test('lets owners change their customer and its permissions with both settings', async () => {
  await open({ owners_can_manage_customers: true, owners_can_manage_owners: true });
  for (const row of rowsOf(tableOfOwners)) await check(row);
});

test.run();
