import { seedLog, logFile } from '/work/main/test/bench/events-seed.ts';
const f = logFile('/work/main/dist/bench');
console.time('seed'); await seedLog(f); console.timeEnd('seed'); console.log(f);
