import type { Words } from './lookup.ts';

/** What the server says of accounts at providers and of resources that it refuses, and of what it has done. */
export const cloudRefusals: Words = {
  'Enter milliseconds or a list of <operation>=<milliseconds>.':
    'Sisesta millisekundid või loend kujul <toiming>=<millisekundid>.',
  'Enter a list of <operation> or <operation>=<probability>.':
    'Sisesta loend kujul <toiming> või <toiming>=<tõenäosus>.',
  'Enter a list of IP addresses.': 'Sisesta IP-aadresside loend.',
  'Enter the credentials in their own fields.': 'Sisesta ligipääsuandmed neile mõeldud väljadele.',
  'Credentials must be given again when the backend changes.':
    'Pakkuja aadressi muutmisel tuleb ligipääsuandmed uuesti sisestada.',
  'Backend of service settings with existing resources cannot be changed.':
    'Pakkuja aadressi ei saa muuta, kuni kontol on ressursse.',
  'Wrong settings: {problem}.': 'Konto ei tööta: {problem}.',
  'Either service settings or credentials must be supplied.': 'Vali pakkujakonto või sisesta ligipääsuandmed.',
  'The fields customer, settings must make a unique set.': 'See klient juba kasutab seda pakkujakontot.',
  "Service customer doesn't match project customer.": 'Teenus ja projekt on eri klientide omad.',
  'Service cannot be connected to project that does not belong to services customer.':
    'Teenust ei saa ühendada teise kliendi projektiga.',
  'This service project link already exists.': 'See teenus on projektiga juba ühendatud.',
  'Service is not connected to this project.': 'Teenus pole selle projektiga ühendatud.',
  'This resource is already linked.': 'See ressurss on juba hallatav.',
  'Only staff users are allowed to import resources from shared services.':
    'Ühistest teenustest saab ressursse importida ainult personal.',
  'Upload a file with PEM certificates only.': 'Laadi üles fail, milles on ainult PEM-sertifikaadid.',
  'The file contains no PEM certificate.': 'Failis pole ühtegi PEM-sertifikaati.',
  'Certificate {n} of the file cannot be read.': 'Faili sertifikaati {n} ei saa lugeda.',
  'No tenant of the service project link is ready.': 'Ükski selle seose rentnik pole valmis.',
  'The service project link has several tenants: name one.': 'Sellel seosel on mitu rentnikku: vali üks.',
  'Invalid service type.': 'Sellist teenuse liiki pole.',
  'Pull has been scheduled.': 'Värskendamine on järjekorras.',
  'Pull operation was successfully scheduled.': 'Värskendamine on järjekorras.',
  'Deletion was scheduled.': 'Kustutamine on järjekorras.',
  'Simulation is switched off.': 'Simulatsioon on välja lülitatud.',

  'Cannot create resource if its service is in erred state.': 'Ressurssi ei saa luua, kuni selle teenus on vigane.',
  'Valid states for operation: {states}.': 'Tegevus on lubatud, kui olek on: {states}.',
  'Valid runtime states for operation: {states}.': 'Tegevus on lubatud, kui tööseisund on: {states}.',
  '{what} belongs to what does not exist at backend.': '{what}: pakkuja juures pole objekti, mille juurde see kuulub.',
  'Does not exist at backend.': 'Pakkuja juures seda pole.',
  'Provisioning is timed out.': 'Loomine võttis liiga kaua aega.',
  'Operation is timed out.': 'Toiming võttis liiga kaua aega.',
  'Enter a period as YYYY-MM or YYYY.': 'Sisesta ajavahemik kujul AAAA-KK või AAAA.',
  'Enter a name of letters, digits, "_", "." and "-".': 'Nimes võivad olla tähed, numbrid ja märgid _ . -',
  'All list items must be of string type.': 'Loendis peavad olema tekstid.',
  'Invalid json list. A tag list submitted in string form must be valid json.': 'Vigane loend.',

  'Image is missing in region {name}': 'Regioonis {name} seda kujutist pole',
  'Size is missing in region {name}': 'Regioonis {name} seda suurust pole',
  'Instance runtime state must be in one of offline states.': 'Masin peab olema peatatud.',
  'New size is not within the same region.': 'Uus suurus on teises regioonis.',
  'New size is the same as current.': 'Uus suurus on sama mis praegune.',
  'New size is the same. Please select another one.': 'Uus suurus on sama. Vali teine.',
  'Disk sizes are not allowed to be decreased through a resize operation.': 'Ketast ei saa vähendada.',
  "The volume '{id}' does not exist.": 'Ketast „{id}” pole olemas.',
  'Volume is already attached to instance.': 'Ketas on juba masinaga ühendatud.',
  'Volume is already detached.': 'Ketas on juba lahutatud.',
  'Instance is not within the same region.': 'Masin on teises regioonis.',

  "Name can only contain letters, digits, '_', '.', dash and space.":
    'Nimes võivad olla ainult tähed, numbrid, tühik ja märgid _ . -',
  "Path can only contain letters, digits, '_', '.', dash and space.":
    'Tees võivad olla ainult tähed, numbrid, tühik ja märgid _ . -',
  "Name can contain only letters, digits, '_', '-' and '.'.": 'Nimes võivad olla ainult tähed, numbrid ja märgid _ . -',
  "Path cannot start with '-' or end in '.'.": 'Tee ei tohi alata sidekriipsuga ega lõppeda punktiga.',
  "Name cannot start with '-' or end in '.'.": 'Nimi ei tohi alata sidekriipsuga ega lõppeda punktiga.',
  'Group with this {field} already exists.': 'Selline rühm on juba olemas ({field}).',
  '{field} cannot be used.': '{field} ei sobi.',
  'This group contains projects. Only empty group can be deleted.':
    'Rühmas on projekte. Kustutada saab ainult tühja rühma.',
  'Group belongs to different service project link.': 'Rühm kuulub teise teenuse ja projekti seose juurde.',

  'Priority should belong to the same JIRA provider.': 'Prioriteet peab olema sama JIRA oma.',
  'Issue type is not subtask, parent issue is not allowed.':
    'See teemaliik pole alamülesanne ja sellel ei saa olla ülemat.',
  'Parent issue should belong to the same JIRA project.': 'Ülem peab olema samast JIRA projektist.',
  'Project keys must start with an uppercase letter, followed by one or more uppercase alphanumeric characters.':
    'Projekti võti algab suurtähega, millele järgnevad suurtähed või numbrid.',
  'The project key must not exceed 10 characters in length.': 'Projekti võti võib olla kuni 10 märki.',
  "Project '{name}' uses this project key.": 'Seda võtit kasutab projekt „{name}”.',
  'Project of issue {key} is unknown.': 'Teema {key} projekt pole teada.',
  'Issue {key} is unknown.': 'Teema {key} pole teada.',

  'Floating IP is in use.': 'Ujuv IP-aadress on kasutusel.',
  'New flavor is the same as current.': 'Uus masinatüüp on sama mis praegune.',
  'Instance is already active.': 'Masin juba töötab.',
  'Instance is already stopped.': 'Masin on juba peatatud.',
  'Please start instance first.': 'Käivita kõigepealt masin.',
  'Please stop the instance before changing its flavor.': 'Peata masin enne masinatüübi muutmist.',
  'Please stop the instance before its removal.': 'Peata masin enne kustutamist.',
  'Instance should be shutoff and OK or erred. Please contact support.':
    'Masin peab olema peatatud ja korras või vigane. Pöördu toe poole.',
  'Cannot delete instance. One of its volumes has attached snapshot.':
    'Masinat ei saa kustutada: ühel selle ketastest on hetktõmmis.',
  'Security group {name} does not belong to the same tenant as instance.':
    'Turvarühm {name} kuulub teisele rentnikule kui masin.',
  'Security group {name} is not ready.': 'Turvarühm {name} pole valmis.',
  'Tenant does not have an internal network.': 'Rentnikul pole sisemist võrku.',
  'Instance should be connected to at least one network.': 'Masin peab olema ühendatud vähemalt ühe võrguga.',
  'It is impossible to connect instance to one subnet twice.': 'Masinat ei saa sama alamvõrguga kaks korda ühendada.',
  'Subnet {name} does not belong to the same tenant as instance.':
    'Alamvõrk {name} kuulub teisele rentnikule kui masin.',
  'Subnet {name} is not ready.': 'Alamvõrk {name} pole valmis.',
  'Please specify tenant external network to perform floating IP operations.':
    'Ujuvate IP-aadresside jaoks peab rentnikul olema väline võrk.',
  'SubNet is not connected to instance.': 'Alamvõrk pole masinaga ühendatud.',
  'Floating IP {address} does not belong to the same tenant as instance.':
    'Ujuv IP-aadress {address} kuulub teisele rentnikule kui masin.',
  'Floating IP {address} is not ready.': 'Ujuv IP-aadress {address} pole valmis.',
  'Floating IP {address} is already in use.': 'Ujuv IP-aadress {address} on juba kasutusel.',
  'Flavor and image must belong to the same service settings as service project link.':
    'Masinatüüp ja kujutis peavad olema samast pakkujakontost kui teenuse ja projekti seos.',
  'Internal network cannot have more than one subnet.': 'Sisemisel võrgul saab olla ainult üks alamvõrk.',
  'Invalid port range.': 'Vigane portide vahemik.',
  'Enter a valid IPv4 CIDR.': 'Sisesta korrektne IPv4 aadressivahemik.',
  'Default security group is managed by OpenStack itself.': 'Vaikimisi turvarühma haldab OpenStack ise.',
  'Cannot delete security group that is in use.': 'Kasutusel olevat turvarühma ei saa kustutada.',
  'Rules update was successfully scheduled.': 'Reeglite muutmine on järjekorras.',
  'Tenant should belong to the same service project link.':
    'Rentnik peab kuuluma sama teenuse ja projekti seose juurde.',
  'Tenant is not ready.': 'Rentnik pole valmis.',
  'New password cannot match the old password.': 'Uus parool peab vanast erinema.',
  'Cannot create floating IP if tenant external network is not defined.':
    'Ujuvat IP-aadressi ei saa luua, kuni rentnikul pole välist võrku.',
  'Floating IPs pull has been scheduled.': 'Ujuvate IP-aadresside värskendamine on järjekorras.',
  'Security groups pull has been scheduled.': 'Turvarühmade värskendamine on järjekorras.',
  'Quotas pull has been scheduled.': 'Kvootide värskendamine on järjekorras.',
  'Password update has been scheduled.': 'Parooli muutmine on järjekorras.',
  'Name "{name}" is already registered. Please choose another one.': 'Nimi „{name}” on juba kasutusel. Vali teine.',
  'Name cannot be used.': 'See nimi ei sobi.',
  'Name "{name}" cannot be used as tenant user username.': 'Nimi „{name}” ei sobi rentniku kasutajanimeks.',
  'You do not have permissions to create tenant in this project using selected service.':
    'Sul pole õigust selle teenusega siia projekti rentnikku luua.',
  'Volume cannot be bootable.': 'Ketas ei tohi olla käivitatav.',
  'Volume instance should be in shutoff state.': 'Ketta masin peab olema peatatud.',
  'Enter a device path such as /dev/vdb.': 'Sisesta seadme tee, näiteks /dev/vdb.',
  'Volume and instance should belong to the same service and project.':
    'Ketas ja masin peavad kuuluma sama teenuse ja projekti juurde.',
  'The supplied device path ({device}) is in use.': 'Seadme tee {device} on kasutusel.',
  'Volume can be attached only to shutoff or active instance in OK state.':
    'Ketast saab ühendada ainult korras masinaga, mis on peatatud või töötab.',
  'Enter a date in the future.': 'Sisesta aeg tulevikus.',
  'Volume has dependent snapshots.': 'Kettal on hetktõmmiseid.',
  'Zone and template must belong to the same service settings.': 'Tsoon ja mall peavad olema samast pakkujakontost.',
};
