import { createServer, settableClock } from './src/app/main.ts';
const opts = { ephemeral: true, port: 0, log_level: 'silent' } as const;
for (let i=0;i<4;i++){ const s = await createServer(opts); await s.close(); }
const s = await createServer(opts);
const admin = s.as('admin');
for (let r = 0; r < 6; r++) {
  for (let i=0;i<200;i++) { const x= await admin('/api/customers/', { method:'POST', json:{ name: 'C'+i } }); if (x.status!==201) throw new Error(await x.text()); else await x.text(); }
  const n = (await s.events()).length;
  const t = performance.now(); await s.reset(); const u = performance.now();
  const l = await (await admin('/api/customers/')).json(); 
  console.log('events', n, 'reset', (u-t).toFixed(2), 'first request', (performance.now()-u).toFixed(2), JSON.stringify(l), (await s.events()).length);
}
await admin('/api/customers/', { method:'POST', json:{ name: 'Kept' } });
await s.snapshot('one');
await admin('/api/customers/', { method:'POST', json:{ name: 'Lost' } });
await s.restore('one');
console.log((await (await admin('/api/customers/')).json()).map((c:any)=>c.name));
for (const f of [()=>s.restore('two'), ()=>s.advance('soon'), ()=>s.advance(-1), async()=>s.failNext('X','create'), async()=>s.failNext('DigitalOcean.Droplet','fly')]) await f().then(()=>console.log('??'), (e:any)=>console.log(e.message.slice(0,300)));
let t=performance.now(); await s.advance('30d'); console.log('30d', performance.now()-t);
t=performance.now(); await s.advance('365d'); console.log('365d', performance.now()-t);
await s.close();
