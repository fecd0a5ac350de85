// The sliding windows that controllers must keep to: never more than so many calls of an action in any minute. Each
// process counts for itself, because none knows the calls of its predecessor.

const minute = 60_000;

export class WindowJudge {
  readonly #most: ReadonlyMap<string, number>;
  readonly #onMisdeed: (text: string) => void;
  /** By process and action. */
  readonly #sent = new Map<string, number[]>();

  /** `quotas`: as the option cloud-quota-overrides has them. */
  constructor(quotas = '', onMisdeed: (text: string) => void) {
    this.#most = new Map(
      [...quotas.matchAll(/(\w+)=(\d+):/g)].map(([, action = '', most]) => [action, Number(most)]),
    );
    this.#onMisdeed = onMisdeed;
  }

  /** A process sends a call. */
  sent(identity: string, action: string, at: number): void {
    const most = this.#most.get(action);
    if (most === undefined) return;
    const key = `${identity} ${action}`;
    const recent = [...(this.#sent.get(key) ?? []).filter((each) => each > at - minute), at];
    this.#sent.set(key, recent);
    if (recent.length > most)
      this.#onMisdeed(`${identity} sends ${recent.length} calls of ${action} within a minute, not ${most}`);
  }
}
