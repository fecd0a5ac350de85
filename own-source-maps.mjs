// Takes the lines of packages out of the source maps of the bundle. Node.js reads the maps of all that it loads, at once, and
// those of the packages, ten times as large as our own, would cost every process 40 MB for lines that nobody here can mend.
// The form is that of https://tc39.es/ecma426/: base64 VLQ, each field relative to the one before.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Rewrites every map below `directory`. */
export async function keepOwnLines(directory) {
  for (const name of await readdir(directory, { recursive: true })) {
    if (!name.endsWith('.map')) continue;
    const path = join(directory, name);
    await writeFile(path, JSON.stringify(withOwnLines(JSON.parse(await readFile(path, 'utf8')))));
  }
}

/** The map without what leads to a file in node_modules; there it ends what came before. */
export function withOwnLines(map) {
  const isOwn = map.sources.map((source) => !source.includes('node_modules/'));
  // Source, line, column and name go on from line to line of the bundle; its own column begins anew in each.
  const read = [0, 0, 0, 0, 0];
  const written = [0, 0, 0, 0, 0];
  const lines = map.mappings.split(';').map((line) => {
    read[0] = 0;
    written[0] = 0;
    let wasOwn = false;
    const kept = [];
    for (const segment of line === '' ? [] : line.split(',')) {
      const fields = decode(segment).map((delta, field) => (read[field] += delta));
      const own = fields.length > 1 && isOwn[fields[1]];
      if (own || wasOwn) kept.push(encode(own ? fields : fields.slice(0, 1), written));
      wasOwn = own;
    }
    return kept.join(',');
  });
  return { ...map, mappings: lines.join(';').replace(/;+$/, '') };
}

function encode(fields, written) {
  return fields
    .map((value, field) => {
      const delta = value - written[field];
      written[field] = value;
      let rest = delta < 0 ? (-delta << 1) | 1 : delta << 1;
      let text = '';
      do {
        const digit = rest & 31;
        rest >>>= 5;
        text += digits[rest > 0 ? digit | 32 : digit];
      } while (rest > 0);
      return text;
    })
    .join('');
}

function decode(segment) {
  const fields = [];
  let value = 0;
  let shift = 0;
  for (const letter of segment) {
    const digit = digits.indexOf(letter);
    value |= (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    fields.push(value & 1 ? -(value >>> 1) : value >>> 1);
    value = 0;
    shift = 0;
  }
  return fields;
}
