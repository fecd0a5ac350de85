// Suggests a name for a misspelled one.

/** The nearest of `candidates`, if it is near enough to be meant. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let min = Math.min(4, Math.ceil(word.length / 2));
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= min) continue;
    const distance = editDistance(word, candidate);
    if (distance < min) [best, min] = [candidate, distance];
  }
  return best;
}

/** Levenshtein's distance: how many letters to insert, delete or replace. Computes one row of its table at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 0; line < from.length; line++) {
    const next = [line + 1];
    for (let column = 1; column <= to.length; column++) {
      const exchanged = (row[column - 1] ?? 0) + (from[line] === to[column - 1] ? 0 : 1);
      next.push(Math.min(exchanged, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
