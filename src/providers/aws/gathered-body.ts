// The bytes of an answer in one place. Pieces that are kept until all have come, and put together then, take twice the memory
// of a page, which is what a controller of many nodes needs most of at once: a large answer is about as large as those before.
// Its place is taken by the next one. A new place for each adds its size to a heap that is near its limit at one blow, and what V8
// does then, before anything else, is a whole collection on one thread: 70 to 160 ms (bench/notes.md).

/** Shorter answers, in bytes, are no pages. */
const short = 2 ** 18;
/** By how much a page may be longer than any before. */
const slack = 1.1;

export class BodyGatherer {
  /** Length of the longest answer so far, in bytes. */
  #longest = 0;
  /** The place of an answer that is read. */
  #spare: Buffer | undefined;

  /** Rejects with what reading the body fails of. The bytes are the caller's until it gives them back, if it does. */
  async gather(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
    let room: Buffer | undefined;
    let filled = 0;
    /** What has no room. */
    let pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of body) {
      length += piece.byteLength;
      if (room === undefined && length > short && length <= this.#longest) {
        room = this.#takeRoom();
        for (const earlier of pieces) filled += put(earlier, room, filled);
        pieces = [];
      }
      if (room !== undefined && length <= room.byteLength) filled += put(piece, room, filled);
      else pieces.push(piece);
    }
    this.#longest = Math.max(this.#longest, length);
    if (room === undefined) return Buffer.concat(pieces);
    const begun = room.subarray(0, filled);
    return pieces.length === 0 ? begun : Buffer.concat([begun, ...pieces]);
  }

  /** To be called once nobody reads what `gather` gave any more: another answer takes all of the ArrayBuffer behind it. */
  giveBack({ buffer }: Buffer): void {
    const room = Buffer.from(buffer);
    if (room.byteLength > Math.max(short, this.#spare?.byteLength ?? 0)) this.#spare = room;
  }

  #takeRoom(): Buffer {
    const spare = this.#spare;
    this.#spare = undefined;
    // One without slack would not hold the next answer, which is mostly a little longer while a fleet grows.
    if (spare !== undefined && spare.byteLength > this.#longest) return spare;
    return Buffer.allocUnsafeSlow(Math.ceil(this.#longest * slack));
  }
}

/** Returns its length. */
function put(piece: Uint8Array, room: Buffer, at: number): number {
  room.set(piece, at);
  return piece.byteLength;
}
