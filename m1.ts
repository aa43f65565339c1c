import { createServer } from './src/app/server.ts';
import { Database } from './src/kernel/db/database.ts';
import { migrate } from './src/kernel/db/migrate.ts';
import SQLite from 'better-sqlite3';
const opts = { ephemeral: true, port: 0, log_level: 'silent' } as const;
for (let i = 0; i < 5; i++) { const t = performance.now(); const s = await createServer(opts); console.log('createServer', (performance.now()-t).toFixed(1)); 
 if (i==4){ const b = s.app.db.serialize(); console.log('bytes', b.length);
  for (let k=0;k<5;k++){ const t=performance.now(); const d = new SQLite(b); d.pragma('foreign_keys=ON'); const u=performance.now(); d.prepare('SELECT count(*) FROM user').get(); const w=performance.now(); console.log('deserialize', (u-t).toFixed(2), 'schema+first', (w-u).toFixed(2)); const x=performance.now(); d.close(); console.log('close',(performance.now()-x).toFixed(2)); }
  for (let k=0;k<3;k++){ const t=performance.now(); s.app.db.serialize(); console.log('serialize', (performance.now()-t).toFixed(2)); }
 }
 await s.close(); }
for (let k=0;k<3;k++){ const t=performance.now(); const d=Database.open(':memory:'); d.define('country_name',(x)=>x); migrate(d); console.log('migrate',(performance.now()-t).toFixed(2)); d.close(); }
const before = process.memoryUsage.rss(); const all=[]; const t=performance.now();
for (let i=0;i<100;i++) all.push(await createServer(opts));
const ms=performance.now()-t; 
for (const s of all) await fetch(s.url+'/api/customers/',{headers:{Authorization:'Token '+s.issueToken()}}).then(r=>r.text());
(globalThis as any).gc?.();
console.log('100 servers', ms.toFixed(0), 'ms, each MiB', ((process.memoryUsage.rss()-before)/100/2**20).toFixed(2), process.memoryUsage());
await Promise.all(all.map(s=>s.close()));
