// Gives each ARM id one spelling. ARM changes the case of ids from answer to answer, and agents compare them exactly.

/**
 * Several times what a fleet of 10,000 VMs has. In scale sets VMs come and go under new ids, and those met longest ago are
 * gone.
 */
const max = 200_000;

export class Spellings {
  /** Least recently met first. */
  readonly #byKey = new Map<string, string>();

  /** The spelling in which this id was met first. */
  of(id: string): string {
    const key = id.toLowerCase();
    const spelling = this.#byKey.get(key) ?? id;
    this.#byKey.delete(key);
    this.#byKey.set(key, spelling);
    if (this.#byKey.size > max) this.#byKey.delete(this.#byKey.keys().next().value ?? key);
    return spelling;
  }
}
