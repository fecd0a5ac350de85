// Parses the seeds of a command line: `1..1000`, `7`, `a,b,c`, and `name:1..200` for two hundred seeds with that name.

/** More than anybody runs, and few enough for memory. */
const maxSeeds = 1_000_000;

/** Throws an Error for a part that names no seed or more than a million. */
export function seedsIn(text: string): readonly string[] {
  return text.split(',').flatMap((part) => seedsOf(part.trim()));
}

function seedsOf(part: string): readonly string[] {
  const range = /^(.*:)?(\d+)\.\.(\d+)$/.exec(part);
  if (range === null) {
    if (part === '' || (part.includes('..') && !part.endsWith('.json'))) throw namesNone(part);
    return [part];
  }
  const [, name = '', first, last] = range;
  const count = Number(last) - Number(first) + 1;
  if (count < 1) throw namesNone(part);
  if (count > maxSeeds) throw new Error(`${part} names more than ${maxSeeds} seeds`);
  return Array.from({ length: count }, (_, index) => `${name}${Number(first) + index}`);
}

function namesNone(part: string): Error {
  return new Error(`${JSON.stringify(part)} names no seed; 7, a word, 1..1000 and name:1..200 do`);
}
