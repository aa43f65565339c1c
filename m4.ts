import { createServer, settableClock } from './src/app/main.ts';
const opts = { ephemeral: true, port: 0, log_level: 'silent' } as const;
const seed = { users: { alice: { full_name: 'Alice', email: 'alice@example.com', password: 'correct-horse-7', token: 'alice-token-0123456789' }, bob: {} },
 customers: { Acme: { abbreviation: 'AC', country: 'EE', roles: { alice: 'owner', bob: { role: 'support', expiration_time: '2030-01-01T00:00:00Z' } }, projects: { 'Web shop': { roles: { bob: 'manager' } }, Payroll: {} },
   services: { Cloud: { type: 'DigitalOcean', projects: ['Web shop'], resources: { 'web-1': { kind: 'Droplet', project: 'Web shop', image: 'x', size: '1gb', region: 'y' } } } } } } } as const;
await createServer({ ...opts, seed }).catch(e=>console.log(e.message));
const s2: any = structuredClone(seed); s2.customers.Acme.services.Cloud.resources['web-1'].image='CentOS 7.9 x64'; 
let t=performance.now();
await createServer({ ...opts, seed: s2 }).catch(e=>console.log(e.message));
for (const bad of [{ users: 1 }, { user: {} }, { users: { a: { password: 3 } } }, { users: { a: { emial: 'x' } } }, { customers: { A: { roles: { z: 'owner' } } } }, { users: { a: {} }, customers: { A: { roles: { a: 'boss' } } } }, 'demoo', { users: { a: {token: 'x'} } }, {users: {a:{}}, customers: {a:{}}}])
 await createServer({ ...opts, seed: bad as any }).then(()=>console.log('??', bad), e=>console.log(e.constructor.name, e.message));
const s3: any = structuredClone(seed); delete s3.customers.Acme.services.Cloud.resources; 
const clock = settableClock('2026-01-05T09:00:00Z');
t=performance.now();
const s = await createServer({ ...opts, clock, seed: s3 }); console.log('seeded in', performance.now()-t, new Date(clock.now()/1000).toISOString());
console.log(s.seeded('Web shop').url, s.seeded('Cloud').state, await (await fetch(s.url+'/api/users/?current', {headers:{Authorization:'Token alice-token-0123456789'}})).json().then((x:any)=>x[0].username));
console.log(await s.events(), await s.mails());
const bob = s.as('bob');
console.log((await (await bob('/api/projects/')).json()).map((p:any)=>p.name), (await bob(s.seeded('Payroll').url)).status);
await s.snapshot('x');
t=performance.now(); await createServer({ ...opts, seed: 'demo' }).then(async d => { console.log('demo', performance.now()-t, d.app.db.serialize().length); for(let i=0;i<5;i++){t=performance.now(); await d.reset(); console.log('reset demo', performance.now()-t);} await d.close(); });
const users: any = {}; const projects: any = {}; for (let i=0;i<2000;i++) { users['u'+i]={}; projects['p'+i]={ roles: { ['u'+i]: 'manager' } }; }
t=performance.now(); const big = await createServer({ ...opts, seed: { users, customers: { Big: { projects } } } }); console.log('6000 objects', performance.now()-t); 
for(let i=0;i<5;i++){t=performance.now(); await big.reset(); console.log('reset big', performance.now()-t, big.app.db.serialize().length);} await big.close();
await s.close(); process.exit();
