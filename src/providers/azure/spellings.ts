// Gives each ARM id one spelling for ever. ARM changes the case of ids from answer to answer, and agents compare them
// exactly.

export class Spellings {
  readonly #byKey = new Map<string, string>();

  /** The spelling in which this id was met first. */
  of(id: string): string {
    const key = id.toLowerCase();
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    this.#byKey.set(key, id);
    return id;
  }
}
