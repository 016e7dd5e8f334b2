// Perfetto's trace processor as the package of its user interface has it, in this process: loads a trace and answers SQL.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {runInThisContext} from 'node:vm';

// Field numbers of trace_processor.proto.
const stream = {message: 1};
const rpc = {sequence: 1, request: 2, invalid: 4, fatal: 5, data: 101, query: 103, appended: 201, result: 203};
const method = {append: 1, finalize: 2, query: 3};
const appendResult = {error: 2};
const queryArgs = {sql: 1};
const queryResult = {name: 1, error: 2, batch: 3};
const batch = {cells: 1, varints: 2, floats: 3, blobs: 4, strings: 5};
const cell = {null: 1, varint: 2, float: 3, string: 4, blob: 5};

const varint = (value) => {
  const bytes = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push(value % 128 + 128);
  return Buffer.from([...bytes, value]);
};
const numberField = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const bytesField = (field, value) => Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);

class Reader {
  constructor(data) { this.data = Buffer.from(data.buffer, data.byteOffset, data.length); this.at = 0; }
  get more() { return this.at < this.data.length; }
  varint() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.data[this.at++];
      value |= BigInt(byte % 128) << shift;
      if (byte < 128) break;
    }
    return Number(BigInt.asIntN(64, value));  // numbers of a trace are below 2^53
  }
  take(count) { return this.data.subarray(this.at, this.at += count); }
  double() { return this.take(8).readDoubleLE(); }
}

// [field number, number or bytes] of a message.
function fieldsOf(data) {
  const reader = new Reader(data);
  const fields = [];
  while (reader.more) {
    const key = reader.varint();
    const read = {0: () => reader.varint(), 1: () => reader.take(8), 2: () => reader.take(reader.varint()), 5: () => reader.take(4)}[key % 8];
    if (!read) throw new Error(`a field of wire type ${key % 8}`);
    fields.push([key >> 3, read()]);
  }
  return fields;
}
const valuesOf = (fields, wanted) => fields.filter(([field]) => field === wanted).map(([, value]) => value);
const textOf = (data) => Buffer.from(data).toString('utf8');

function cellsOf(data) {
  const fields = fieldsOf(data);
  const packed = (field, next) => valuesOf(fields, field).flatMap((value) => {
    if (typeof value === 'number') return [value];
    const reader = new Reader(value);
    const out = [];
    while (reader.more) out.push(next(reader));
    return out;
  });
  const numbers = packed(batch.varints, (reader) => reader.varint())[Symbol.iterator]();
  const floats = packed(batch.floats, (reader) => reader.double())[Symbol.iterator]();
  const blobs = valuesOf(fields, batch.blobs)[Symbol.iterator]();
  const strings = valuesOf(fields, batch.strings).map(textOf).join('').split('\0')[Symbol.iterator]();
  const read = {[cell.null]: () => null, [cell.varint]: () => numbers.next().value, [cell.float]: () => floats.next().value,
                [cell.blob]: () => blobs.next().value, [cell.string]: () => strings.next().value};
  return packed(batch.cells, (reader) => reader.varint()).map((kind) => read[kind]());
}

export class TraceProcessor {
  #port = {};
  #sequence = 0;
  #answers = [];

  // `folder`: the package's. Its engine is made for a worker of a browser; the emscripten code in it knows node, too.
  static async open(folder) {
    const processor = new TraceProcessor();
    processor.#port.postMessage = (data) => { for (const message of valuesOf(fieldsOf(data), stream.message)) processor.#answers.push(fieldsOf(message)); };
    const worker = {};
    const bundle = readFileSync(join(folder, 'engine_bundle.js'), 'utf8');
    const require = createRequire(import.meta.url);
    // It looks for its wasm in the current folder.
    const before = process.cwd();
    process.chdir(folder);
    runInThisContext(`(function (self, require, __dirname) {${bundle}\n})`)(worker, require, folder);
    worker.onmessage({data: {enginePort: processor.#port}});
    // It answers once the wasm is there, and not at all before: a request that it cannot take throws.
    for (let tries = 0; ; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      try { processor.query('SELECT 1'); break; } catch (error) { if (tries === 1200) throw error; }
    }
    process.chdir(before);
    return processor;
  }

  #call(what, ...args) {
    this.#answers = [];
    const message = Buffer.concat([numberField(rpc.sequence, this.#sequence), numberField(rpc.request, what), ...args]);
    this.#port.onmessage({data: new Uint8Array(bytesField(stream.message, message))});
    this.#sequence++;
    for (const answer of this.#answers)
      for (const [field, value] of answer)
        if (field === rpc.invalid || field === rpc.fatal) throw new Error(`the trace processor answers ${typeof value === 'number' ? value : textOf(value)}`);
    return (field) => this.#answers.flatMap((answer) => valuesOf(answer, field)).map(fieldsOf);
  }

  load(path) {
    const chunkBytes = 1 << 20;
    const data = readFileSync(path);
    for (let at = 0; at < data.length; at += chunkBytes) {
      const results = this.#call(method.append, bytesField(rpc.data, data.subarray(at, at + chunkBytes)))(rpc.appended);
      for (const error of results.flatMap((result) => valuesOf(result, appendResult.error)).map(textOf)) if (error) throw new Error(`${path}: ${error}`);
    }
    this.#call(method.finalize);
  }

  // Rows as objects.
  query(sql) {
    const results = this.#call(method.query, bytesField(rpc.query, bytesField(queryArgs.sql, Buffer.from(sql))))(rpc.result);
    const all = (field) => results.flatMap((result) => valuesOf(result, field));
    const errors = all(queryResult.error).map(textOf).filter(Boolean);
    if (errors.length) throw new Error(`${sql}: ${errors}`);
    const names = all(queryResult.name).map(textOf);
    const cells = all(queryResult.batch).flatMap(cellsOf);
    const rows = [];
    for (let i = 0; i < cells.length; i += names.length) rows.push(Object.fromEntries(names.map((name, column) => [name, cells[i + column]])));
    return rows;
  }
}
