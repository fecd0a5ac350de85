// What no process may send to Alibaba Cloud: more calls of an action in any minute than its sliding window has, and an
// assignment after a lost one without the token of that. Each process counts for itself, because none knows the calls of
// its predecessor.

const minute = 60_000;
/** When a process repeats a lost assignment, in ms after the loss. What it assigns sooner or later is another one. */
const repeated = { from: 900, until: 3000 };

export interface SentCall {
  readonly identity: string;
  readonly action: string;
  readonly input: object;
}

export class CallJudge {
  readonly #max: ReadonlyMap<string, number>;
  readonly #onMisdeed: (text: string) => void;
  /** By process and action. */
  readonly #sent = new Map<string, number[]>();
  /** By process, interface and number of addresses: tokens sent, and when the last answer was lost. */
  readonly #assignments = new Map<string, { readonly tokens: Set<unknown>; lostAt: number }>();
  /** Assignments sent again with their token. */
  #repetitions = 0;
  /** Assignments with a new token, soon after one like them was lost. */
  #suspects = 0;

  /** `quotas`: as the option cloud-quota-overrides has them. */
  constructor(quotas = '', onMisdeed: (text: string) => void) {
    this.#max = new Map(
      [...quotas.matchAll(/(\w+)=(\d+):/g)].map(([, action = '', max]) => [action, Number(max)]),
    );
    this.#onMisdeed = onMisdeed;
  }

  /** A process sends a call. */
  sent(call: SentCall, at: number): void {
    this.#checkWindow(call, at);
    if (call.action !== 'AssignPrivateIpAddresses') return;
    const known = this.#assignmentsLike(call);
    if (known.tokens.has(tokenOf(call))) this.#repetitions++;
    else if (isBetween(at - known.lostAt, repeated)) this.#suspect(call);
    known.tokens.add(tokenOf(call));
  }

  /** One may be a further assignment: a pod took an address just then. Two of them are none if nothing is ever repeated. */
  #suspect(call: SentCall): void {
    this.#suspects++;
    if (this.#repetitions === 0 && this.#suspects > 1)
      this.#onMisdeed(
        `${call.identity} repeats an assignment with another token: ${JSON.stringify(call.input)}`,
      );
  }

  /** No answer came. */
  lost(call: SentCall, at: number): void {
    if (call.action === 'AssignPrivateIpAddresses') this.#assignmentsLike(call).lostAt = at;
  }

  #assignmentsLike(call: SentCall): { readonly tokens: Set<unknown>; lostAt: number } {
    const known = this.#assignments.get(keyOf(call)) ?? { tokens: new Set(), lostAt: -Infinity };
    this.#assignments.set(keyOf(call), known);
    return known;
  }

  #checkWindow({ identity, action }: SentCall, at: number): void {
    const max = this.#max.get(action);
    if (max === undefined) return;
    const key = `${identity} ${action}`;
    const recent = [...(this.#sent.get(key) ?? []).filter((each) => each > at - minute), at];
    this.#sent.set(key, recent);
    if (recent.length > max)
      this.#onMisdeed(`${identity} sends ${recent.length} calls of ${action} within a minute, not ${max}`);
  }
}

function isBetween(ms: number, { from, until }: { readonly from: number; readonly until: number }): boolean {
  return ms >= from && ms <= until;
}

function tokenOf({ input }: SentCall): unknown {
  return (input as { readonly clientToken?: unknown }).clientToken;
}

function keyOf({ identity, input }: SentCall): string {
  return `${identity} ${JSON.stringify({ ...input, clientToken: '' })}`;
}
