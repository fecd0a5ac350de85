// Parses a JSON answer and only counts the members of one long list in it. A subnet shows each of its addresses with a
// long id: 16,000 of them are 5 MB of text of which only the number matters.

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrackets: ReadonlySet<number> = new Set([0x7b, 0x5b]);
const closeBrackets: ReadonlySet<number> = new Set([0x7d, 0x5d]);
const openList = 0x5b;
const spaces: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Takes an answer in pieces. What it keeps is the answer with the list emptied. */
export class CountingReader {
  readonly #name: Buffer;
  readonly #kept: Buffer[] = [];
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /** Bytes of the text that is read, compared with the name as they come; -1 once they differ. */
  #matched = -1;
  /** Whether the last text was the name, and whether a colon followed it. */
  #isNamed = false;
  #isOpening = false;
  /** The depth of the counted list; undefined outside it. */
  #listDepth: number | undefined;
  #isEmpty = true;
  #count: number | undefined;

  constructor(name: string) {
    this.#name = Buffer.from(name);
  }

  /** Members of the list; undefined if the answer has no such list. */
  get count(): number | undefined {
    return this.#count;
  }

  take(piece: Uint8Array): void {
    let from = this.#listDepth === undefined ? 0 : piece.length;
    for (let at = 0; at < piece.length; at++) {
      const wasInside = this.#listDepth !== undefined;
      this.#step(piece[at] ?? 0);
      const isInside = this.#listDepth !== undefined;
      if (!wasInside && isInside) this.#kept.push(Buffer.from(piece.subarray(from, at + 1)));
      if (wasInside && !isInside) from = at;
      if (isInside) from = piece.length;
    }
    if (from < piece.length) this.#kept.push(Buffer.from(piece.subarray(from)));
  }

  /** The kept text. */
  end(): string {
    return Buffer.concat(this.#kept).toString('utf8');
  }

  #step(byte: number): void {
    if (this.#isInText) this.#stepInText(byte);
    else if (!spaces.has(byte)) this.#stepBetween(byte);
  }

  #stepInText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) {
      this.#isInText = false;
      this.#isNamed = this.#matched === this.#name.length;
      return;
    }
    this.#matched = this.#matched >= 0 && this.#name[this.#matched] === byte ? this.#matched + 1 : -1;
  }

  #stepBetween(byte: number): void {
    const isOpening = this.#isOpening;
    this.#isOpening = byte === colon && this.#isNamed;
    this.#isNamed = false;
    if (this.#listDepth === this.#depth) this.#count = this.#counted(byte);
    if (byte === quote) {
      this.#isInText = true;
      this.#matched = 0;
    } else if (openBrackets.has(byte)) {
      this.#depth++;
      if (isOpening && byte === openList && this.#listDepth === undefined) this.#beginList();
    } else if (closeBrackets.has(byte)) {
      if (this.#listDepth === this.#depth) this.#listDepth = undefined;
      this.#depth--;
    }
  }

  #beginList(): void {
    this.#listDepth = this.#depth;
    this.#isEmpty = true;
    this.#count = 0;
  }

  /** Members are what precedes commas, and the last one. */
  #counted(byte: number): number {
    const before = this.#count ?? 0;
    if (this.#isEmpty && !closeBrackets.has(byte)) {
      this.#isEmpty = false;
      return before + 1;
    }
    return byte === comma ? before + 1 : before;
  }
}
