// The seeds that a command line names: `1..1000`, `7`, `a,b,c`, and `name:1..200` for two hundred seeds of that name.

export function seedsIn(text: string): readonly string[] {
  return text.split(',').flatMap((part) => {
    const range = /^(.*:)?(\d+)\.\.(\d+)$/.exec(part);
    if (range === null) return part === '' ? [] : [part];
    const [, name = '', first, last] = range;
    const count = Math.max(0, Number(last) - Number(first) + 1);
    return Array.from({ length: count }, (_, index) => `${name}${Number(first) + index}`);
  });
}
