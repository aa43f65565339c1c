import type { Words } from './lookup.ts';

/** What the server says of the fields of forms. */
export const helps: Words = {
  'At least 7 characters or as many as the service asks for, with a digit and a latin letter.':
    'Vähemalt 7 märki või nii palju, kui teenus nõuab; sisaldab numbrit ja ladina tähte.',
  'Only images whose name matches are kept.': 'Alles jäävad ainult kujutised, mille nimi vastab mustrile.',
  'Secret that JIRA sends with its webhooks, of at least 20 characters.':
    'Saladus, mille JIRA oma veebiteadetega saadab; vähemalt 20 märki.',
  'Project of the administrator, for calls about the whole provider; default: admin.':
    'Administraatori projekt kogu pakkujat puudutavate päringute jaoks; vaikimisi admin.',
  'Zone of servers and volumes.': 'Serverite ja ketaste tsoon.',
  'Id of the network of floating IPs and gateways.': 'Ujuvate IP-aadresside ja lüüside võrgu tunnus.',
  'Dashboard that tenants point to.': 'Töölaud, millele rentnikud viitavad.',
  'Comma list of IP addresses, for subnets.': 'Komadega eraldatud IP-aadressid alamvõrkude jaoks.',
  'Flavors whose name matches are left out.': 'Masinatüübid, mille nimi vastab mustrile, jäetakse välja.',
  'Whether routers are made highly available.': 'Kas ruuterid luuakse tõrkekindlatena.',
  'Seed of the simulated world.': 'Simuleeritud maailma algväärtus.',
  'Milliseconds, or a list of operation=milliseconds.': 'Millisekundid või loend kujul toiming=millisekundid.',
  'A list of operation or operation=probability.': 'Loend kujul toiming või toiming=tõenäosus.',
  'Unmanaged objects of each importable kind.': 'Haldamata objektide arv igast imporditavast liigist.',
  'Company or private person.': 'Ettevõte või eraisik.',
  'When the role ends by itself; null: never.': 'Millal roll ise lõpeb; tühi: mitte kunagi.',
  'Link of a simulated resource.': 'Simuleeritud ressursi link.',
  'What happens to it at the provider.': 'Mis sellega pakkuja juures juhtub.',
  'Has a simulated resource change at its provider, unseen until it is synchronised.':
    'Muudab simuleeritud ressurssi pakkuja juures, mida on näha alles pärast sünkroonimist.',
  'What is sent, without its signature; null when the event is no longer kept.':
    'Mida saadetakse, ilma allkirjata; tühi, kui sündmust enam ei hoita.',
  'What was answered to the last attempt; null where nothing was.':
    'Mida viimasele katsele vastati; tühi, kui midagi ei vastatud.',
  'Whether events are delivered.': 'Kas sündmustest teavitatakse.',
  'Types of events to deliver.': 'Sündmuste liigid, millest teavitatakse.',
  'Groups of events to deliver; stored event_types are those given and those of the groups.':
    'Sündmuste rühmad, millest teavitatakse; kehtivad nii siin kui liikide seas valitud.',
  'Where mails are sent to.': 'Kuhu kirjad saadetakse.',
  'Whether the owner of the address wants the mails; until then none are sent.':
    'Kas aadressi omanik soovib kirju; enne seda ei saadeta ühtegi.',
  'Link of the invitation; {uuid} in it stands for a secret, which accept and check take for the uuid.':
    'Kutse link; {uuid} tähistab selles saladust, mida vastuvõtmisel ja kontrollimisel kasutatakse uuid asemel.',
  'Where the mail is sent to. The invitation may be accepted with another address.':
    'Kuhu kiri saadetakse. Kutse võib vastu võtta ka teise aadressiga.',
  'When set, only a user with this civil number may accept.':
    'Kui see on määratud, saab kutse vastu võtta ainult selle isikukoodiga kasutaja.',
  "Default: the key's comment, with a number where another key has that name.":
    'Vaikimisi võtme kommentaar, millele lisatakse number, kui sama nimega võti on juba olemas.',
  "Replaces the user's email by that of the invitation.": 'Asendab kasutaja e-posti aadressi kutse omaga.',
  'SSH public key in one line.': 'Avalik SSH-võti ühel real.',
  'Platform of the device.': 'Seadme platvorm.',
  'Largest usage allowed; -1: unlimited.': 'Suurim lubatud kasutus; -1: piiramata.',
  'Usage from which an alert is raised; 0: off.': 'Kasutus, millest alates antakse häire; 0: väljas.',
  'Required. 30 characters or fewer. Letters, digits and @/./+/-/_ only.':
    'Kohustuslik. Kuni 30 märki. Ainult tähed, numbrid ja @ . + - _',
  'Whether the user is staff and sees and does everything.': 'Kas kasutaja kuulub personali, kes näeb ja teeb kõike.',
  'Inactive users cannot log in. Use this instead of deleting.':
    'Mitteaktiivne kasutaja ei saa sisse logida. Kasuta seda kustutamise asemel.',
  'Whether the user is global support and sees everything.': 'Kas kasutaja kuulub üldtoe hulka, kes näeb kõike.',
  'Token lifetime in seconds.': 'Pääsuloa kehtivus sekundites.',
  'User must agree with the policy.': 'Kasutaja peab tingimustega nõustuma.',
  'The present password, for a change of the own password or email where the service asks for it.':
    'Praegune parool, kui teenus seda oma parooli või e-posti muutmisel küsib.',
  'Where events are posted to.': 'Kuhu sündmused saadetakse.',
  'Form of the body; default: json.': 'Sisu vorming; vaikimisi json.',
  'Link of an object the event is about.': 'Objekti link, mida sündmus puudutab.',
  'Data given to the machine at its first start.': 'Andmed, mis antakse masinale esimesel käivitamisel.',
  'SSH key that is put into the machine.': 'SSH-võti, mis masinasse pannakse.',
  'In MiB.': 'MiB-des.',
  'Name of the device, such as /dev/sdf.': 'Seadme nimi, näiteks /dev/sdf.',
  'Whether the disk grows too, which cannot be undone.': 'Kas suureneb ka ketas; seda ei saa tagasi võtta.',
  'Where the group is at GitLab.': 'Kus rühm GitLabis asub.',
  '0 private, 10 internal, 20 public.': '0 privaatne, 10 sisemine, 20 avalik.',
  'User of the tenant; default: made of its name.': 'Rentniku kasutaja; vaikimisi moodustatakse nimest.',
  'Addresses of the internal network; default: 192.168.42.0/24.':
    'Sisemise võrgu aadressid; vaikimisi 192.168.42.0/24.',
  'Default: that of the subnets in internal_ips_set, else the only tenant of the link that is OK.':
    'Vaikimisi alamvõrkude (internal_ips_set) rentnik, muidu seose ainus töökorras rentnik.',
  'Default: the only tenant of the link that is OK.': 'Vaikimisi seose ainus töökorras rentnik.',
  'New password of the tenant user.': 'Rentniku kasutaja uus parool.',
  'What is let in.': 'Mis sisse lastakse.',
  'Size of the system volume in MiB.': 'Süsteemiketta suurus MiB-des.',
  'Size of the data volume in MiB; absent: none.': 'Andmeketta suurus MiB-des; tühi: andmeketast pole.',
  'Security groups of the tenant.': 'Rentniku turvarühmad.',
  'Subnets that the instance is connected to; default: the internal one of the tenant.':
    'Alamvõrgud, millega masin ühendatakse; vaikimisi rentniku sisemine alamvõrk.',
  'Floating IPs; without url a free one is taken or one is created.':
    'Ujuvad IP-aadressid; valimata jätmisel võetakse vaba või luuakse uus.',
  'Device path such as /dev/vdb; default: the next free one.': 'Seadme tee, näiteks /dev/vdb; vaikimisi järgmine vaba.',
  'New size in MiB.': 'Uus suurus MiB-des.',
  'When the snapshot is deleted; null: never.': 'Millal hetktõmmis kustutatakse; tühi: mitte kunagi.',
  'User of the database.': 'Andmebaasi kasutaja.',
  'Password of the database.': 'Andmebaasi parool.',
  'At most {count} bytes.': 'Kuni {count} baiti.',
  'What fails, such as DigitalOcean.Droplet.': 'Mis ebaõnnestub, näiteks DigitalOcean.Droplet.',
  'What is to fail there, such as create.': 'Milline toiming ebaõnnestub, näiteks create.',
  'What the provider is to say.': 'Mida pakkuja vastab.',
  'How far the clock goes on.': 'Kui palju kella edasi keeratakse.',
};
