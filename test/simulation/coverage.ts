// Counts what a simulation hit, per cell.

export class Coverage {
  readonly cells = new Map<string, number>();

  hit(...parts: readonly string[]): void {
    const cell = parts.join(' | ');
    this.cells.set(cell, (this.cells.get(cell) ?? 0) + 1);
  }
}
