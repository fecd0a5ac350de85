// Collects the bytes of an answer in one reused buffer. Chunks that are kept and joined at the end take twice
// the memory of a page, which dominates the peak of a large controller. A large answer is about as long as
// earlier ones, so their buffer is reused. A new buffer per page grows a nearly full heap by its whole size.
// V8 then runs a full collection on one thread before anything else (docs/decisions/v8-flags.md).

/** Shorter answers are not pages, in bytes. */
const short = 2 ** 18;
/** How much longer than any earlier page a page may be. */
const slack = 1.1;

export class BodyGatherer {
  /** Length of the longest answer so far, in bytes. */
  #max = 0;
  /** The buffer of an answer that was already read. */
  #spare: Buffer | undefined;

  /**
   * Rejects with the error from reading the body. The caller owns the bytes until it recycles them, which is
   * optional.
   */
  async gather(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
    let room: Buffer | undefined;
    let filled = 0;
    /** Chunks outside the buffer: received before it was assigned, or beyond its end. */
    let pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of body) {
      length += piece.byteLength;
      if (room === undefined && length > short && length <= this.#max) {
        room = this.#takeRoom();
        for (const earlier of pieces) filled += put(earlier, room, filled);
        pieces = [];
      }
      if (room !== undefined && length <= room.byteLength) filled += put(piece, room, filled);
      else pieces.push(piece);
    }
    this.#max = Math.max(this.#max, length);
    if (room === undefined) return Buffer.concat(pieces);
    const filledPart = room.subarray(0, filled);
    return pieces.length === 0 ? filledPart : Buffer.concat([filledPart, ...pieces]);
  }

  /** Call it when nothing reads the result of `gather` any longer: another answer overwrites its whole ArrayBuffer. */
  recycle({ buffer }: Buffer): void {
    const room = Buffer.from(buffer);
    if (room.byteLength > Math.max(short, this.#spare?.byteLength ?? 0)) this.#spare = room;
  }

  #takeRoom(): Buffer {
    const spare = this.#spare;
    this.#spare = undefined;
    // A buffer without slack would be too small for the next answer, which is usually a little longer while a fleet
    // grows.
    if (spare !== undefined && spare.byteLength > this.#max) return spare;
    return Buffer.allocUnsafeSlow(Math.ceil(this.#max * slack));
  }
}

/** Returns its length. */
function put(piece: Uint8Array, room: Buffer, at: number): number {
  room.set(piece, at);
  return piece.byteLength;
}
