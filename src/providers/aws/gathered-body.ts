// The bytes of an answer in one place. Pieces that are kept until all have come, and put together then, take twice the memory
// of a page, which is what a controller of many nodes needs most of at once: a large answer is about as large as those before.

/** Shorter answers, in bytes, are no pages. */
const short = 2 ** 18;
/** By how much a page may be longer than any before. */
const slack = 1.1;

export class BodyGatherer {
  /** Length of the longest answer so far, in bytes. */
  #longest = 0;

  /** Rejects with what reading the body fails of. */
  async gather(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
    let room: Buffer | undefined;
    let filled = 0;
    /** What has no room. */
    let pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of body) {
      length += piece.byteLength;
      if (room === undefined && length > short && length <= this.#longest) {
        room = Buffer.allocUnsafeSlow(Math.ceil(this.#longest * slack));
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
}

/** Returns its length. */
function put(piece: Uint8Array, room: Buffer, at: number): number {
  room.set(piece, at);
  return piece.byteLength;
}
