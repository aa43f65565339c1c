import { createServer } from './src/app/main.ts';
const opts = { ephemeral: true, port: 0, log_level: 'silent' } as const;
const s = await createServer(opts);
const ts:number[]=[];
for (let i=0;i<60;i++){ const t=performance.now(); await s.reset(); ts.push(performance.now()-t); }
console.log(ts.map(x=>x.toFixed(1)).join(' '));
await s.close();
