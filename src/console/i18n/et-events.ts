import type { Words } from './lookup.ts';

/** What the messages of events and alerts say, by their templates. */
export const messages: Words = {
  'User {user} with full name {name} authenticated successfully with username and password.':
    'Kasutaja {user} ({name}) logis kasutajanime ja parooliga sisse.',
  'User {user} authenticated successfully with username and password.':
    'Kasutaja {user} logis kasutajanime ja parooliga sisse.',
  'User {user} with full name {name} has logged out.': 'Kasutaja {user} ({name}) logis välja.',
  'User {user} has logged out.': 'Kasutaja {user} logis välja.',
  'User {user} failed to authenticate with username and password.':
    'Kasutajal {user} ei õnnestunud kasutajanime ja parooliga sisse logida.',
  'Customer {name} has been created.': 'Klient {name} on loodud.',
  'Customer {name} has been deleted.': 'Klient {name} on kustutatud.',
  'Customer {name} has been updated.': 'Klienti {name} on muudetud.',
  'Project {name} has been created.': 'Projekt {name} on loodud.',
  'Project {name} has been deleted.': 'Projekt {name} on kustutatud.',
  'Project {name} has been updated.{changes}': 'Projekti {name} on muudetud.{changes}',
  'Resource {name} creation has failed.': 'Ressursi {name} loomine ebaõnnestus.',
  'Resource {name} creation has been scheduled.': 'Ressursi {name} loomine on järjekorras.',
  'Resource {name} has been created.': 'Ressurss {name} on loodud.',
  'Resource {name} deletion has failed.': 'Ressursi {name} kustutamine ebaõnnestus.',
  'Resource {name} deletion has been scheduled.': 'Ressursi {name} kustutamine on järjekorras.',
  'Resource {name} has been imported.': 'Ressurss {name} on imporditud.',
  'Resource {name} restart has failed.': 'Ressursi {name} taaskäivitamine ebaõnnestus.',
  'Resource {name} has been scheduled to restart.': 'Ressursi {name} taaskäivitamine on järjekorras.',
  'Resource {name} has been restarted.': 'Ressurss {name} on taaskäivitatud.',
  'Resource {name} start has failed.': 'Ressursi {name} käivitamine ebaõnnestus.',
  'Resource {name} has been scheduled to start.': 'Ressursi {name} käivitamine on järjekorras.',
  'Resource {name} has been started.': 'Ressurss {name} on käivitatud.',
  'Resource {name} stop has failed.': 'Ressursi {name} peatamine ebaõnnestus.',
  'Resource {name} has been scheduled to stop.': 'Ressursi {name} peatamine on järjekorras.',
  'Resource {name} has been stopped.': 'Ressurss {name} on peatatud.',
  'User {user} has gained role of {role} in {kind} {name}.': 'Kasutaja {user} sai rolli: {role} ({kind} {name}).',
  'User {user} has lost role of {role} in {kind} {name}.': 'Kasutaja {user} kaotas rolli: {role} ({kind} {name}).',
  'SSH key {key} has been created for user {name} with username {user}.':
    'Kasutajale {user} ({name}) on lisatud SSH-võti {key}.',
  'SSH key {key} has been created for user with username {user}.': 'Kasutajale {user} on lisatud SSH-võti {key}.',
  'SSH key {key} has been deleted for user {name} with username {user}.':
    'Kasutajalt {user} ({name}) on kustutatud SSH-võti {key}.',
  'SSH key {key} has been deleted for user with username {user}.': 'Kasutajalt {user} on kustutatud SSH-võti {key}.',
  'Token has been updated for {user}': 'Kasutaja {user} pääsuluba on uuendatud',
  'User {user} has been activated.': 'Kasutaja {user} on lubatud.',
  'User {user} has been created.': 'Kasutaja {user} on loodud.',
  'User {user} has been deactivated.': 'Kasutaja {user} on keelatud.',
  'User {user} has been deleted.': 'Kasutaja {user} on kustutatud.',
  'User {user} has been approved for organization {organization}.':
    'Kasutaja {user} on organisatsiooni {organization} kinnitatud.',
  'User {user} has claimed organization {organization}.': 'Kasutaja {user} taotles organisatsiooni {organization}.',
  'User {user} claim for organization {organization} has been rejected.':
    'Kasutaja {user} taotlus organisatsiooni {organization} kohta lükati tagasi.',
  'User {user} has been removed from organization {organization}.':
    'Kasutaja {user} on organisatsioonist {organization} eemaldatud.',
  'Password has been changed for user {user}.': 'Kasutaja {user} parool on muudetud.',
  'Token lifetime has been changed for {user} to {lifetime}': 'Kasutaja {user} pääsuloa kehtivusaeg on nüüd {lifetime}',
  'User {user} has been updated.': 'Kasutajat {user} on muudetud.',
  'Test delivery of the hook.': 'Teavituse proovisaatmine.',
  // A resource by its type and name, when no other is meant.
  '{resource} has been deleted.': '{resource} on kustutatud.',
  '{resource} has been updated.{changes}': '{resource}: andmed on muudetud.{changes}',

  'Threshold for {scope} is exceeded.': 'Ületatud on lävi: {scope}.',
  'Customer {name} has exceeded quota {quota}.': 'Klient {name} on ületanud kvoodi {quota}.',
  'Customer {name} does not have any projects.': 'Kliendil {name} pole ühtegi projekti.',
  'Customer {name} has zero services configured.': 'Kliendil {name} pole ühtegi teenust seadistatud.',
  'Customer {name} does not have any resources.': 'Kliendil {name} pole ühtegi ressurssi.',
  'Service account {name} is not responding': 'Pakkujakonto {name} ei vasta',
  'Service {name} has unmanaged resources': 'Teenusel {name} on haldamata ressursse',
  'Resource {name} has disappeared from the backend': 'Ressurss {name} on pakkuja juurest kadunud',
};
