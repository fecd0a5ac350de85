// The seeds that a command line names: `1..1000`, `7`, `a,b,c`.

export function seedsIn(text: string): readonly string[] {
  return text.split(',').flatMap((part) => {
    const range = /^(\d+)\.\.(\d+)$/.exec(part);
    if (range === null) return part === '' ? [] : [part];
    const [first, last] = [Number(range[1]), Number(range[2])];
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => String(first + index));
  });
}
