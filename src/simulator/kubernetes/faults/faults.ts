// Injected faults: rules that refuse, lose, delay or break requests and watches, each a limited number of times.
import type { Clock } from '../../../runtime/clock.ts';
import { type Failure, StatusError } from '../api-status.ts';
import { type LineFate, OpenWatches } from '../reading/open-watches.ts';

export type FaultEffect =
  /** Answers with this refusal and does nothing. */
  | { readonly kind: 'refuse'; readonly failure: Failure }
  /** Breaks the connection before the request is processed. */
  | { readonly kind: 'dropBefore' }
  /** Processes the request, then breaks the connection instead of answering. */
  | { readonly kind: 'dropAfter' }
  /** Answers a list without its objects; affects no other request. */
  | { readonly kind: 'emptyList' }
  /** Processes the request after this many ms. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Delivers watch events this many ms late. */
  | { readonly kind: 'delayEvents'; readonly ms: number }
  /** Delivers watch events twice. */
  | { readonly kind: 'duplicateEvents' };

export interface FaultRule {
  /** Upper case; any if omitted. */
  readonly method?: string;
  /** Matched against path and query; any if omitted. */
  readonly path?: RegExp;
  /** How many requests or events it affects; 1 if omitted, `Infinity` until it is removed. */
  readonly times?: number;
  readonly effect: FaultEffect;
}

/** The connection broke: the answer is missing or truncated. */
export class ConnectionDropped extends Error {
  constructor() {
    super('the connection was dropped');
    this.name = 'ConnectionDropped';
  }
}

interface ArmedRule {
  readonly rule: FaultRule;
  left: number;
}

export interface RequestFate {
  readonly delay: number;
  readonly refusal: StatusError | undefined;
  readonly dropped: 'after' | 'before' | 'no';
  /** Whether a list is shown empty. */
  readonly isEmptied: boolean;
}

export class Faults {
  /** The watches that faults affect. */
  readonly openWatches: OpenWatches;
  readonly #expireHistory: () => void;
  #armed: ArmedRule[] = [];

  constructor(clock: Clock, expireHistory: () => void) {
    this.openWatches = new OpenWatches(clock, (url) => this.#fateOfLine(url));
    this.#expireHistory = expireHistory;
  }

  /** Rules apply in injection order. The returned function removes the rule. */
  inject(rule: FaultRule): () => void {
    const armed = { rule, left: rule.times ?? 1 };
    this.#armed.push(armed);
    return () => {
      this.#armed = this.#armed.filter((other) => other !== armed);
    };
  }

  /** Removes every rule. */
  clear(): void {
    this.#armed = [];
  }

  /** The active rules, with their remaining number of uses. */
  rules(): readonly FaultRule[] {
    return this.#armed.map(({ rule, left }) => ({ ...rule, times: left }));
  }

  /** Ends the matching watches as a server does in a graceful shutdown; returns their number. */
  closeWatches(path = /^/): number {
    const watches = this.openWatches.matching(path);
    for (const watch of watches) watch.end();
    return watches.length;
  }

  /** Breaks the matching watches in the middle of a line; returns their number. */
  cutWatches(path = /^/): number {
    const watches = this.openWatches.matching(path);
    for (const { lines } of watches) {
      lines.push('{"type":"MODIFIED","object":{"apiVer');
      lines.fail(new ConnectionDropped());
    }
    return watches.length;
  }

  /** Drops every version before the current one: continuing or resuming from there fails with 410. */
  expireHistory(): void {
    this.#expireHistory();
  }

  /** The fate of a request; uses up the rules that it matches. */
  fateOfRequest(method: string, url: string): RequestFate {
    let delay = 0;
    let isEmptied = false;
    for (const armed of this.#meeting(method, url)) {
      const { effect } = armed.rule;
      if (effect.kind === 'delay') {
        this.#fire(armed);
        delay += effect.ms;
      } else if (effect.kind === 'emptyList') {
        if (method !== 'GET' || url.includes('watch=')) continue;
        this.#fire(armed);
        isEmptied = true;
      } else if (effect.kind === 'refuse') {
        this.#fire(armed);
        return { delay, refusal: new StatusError(effect.failure), dropped: 'no', isEmptied };
      } else if (effect.kind === 'dropBefore' || effect.kind === 'dropAfter') {
        this.#fire(armed);
        const dropped = effect.kind === 'dropBefore' ? 'before' : 'after';
        return { delay, refusal: undefined, dropped, isEmptied };
      }
    }
    return { delay, refusal: undefined, dropped: 'no', isEmptied };
  }

  #fateOfLine(url: string): LineFate {
    let delay = 0;
    let copies = 1;
    for (const armed of this.#meeting('GET', url)) {
      const { effect } = armed.rule;
      if (effect.kind === 'delayEvents') delay += effect.ms;
      else if (effect.kind === 'duplicateEvents') copies = 2;
      else continue;
      this.#fire(armed);
    }
    return { delay, copies };
  }

  #meeting(method: string, url: string): readonly ArmedRule[] {
    return this.#armed.filter(
      ({ rule }) => (rule.method ?? method) === method && (rule.path === undefined || rule.path.test(url)),
    );
  }

  #fire(armed: ArmedRule): void {
    armed.left--;
    if (armed.left <= 0) this.#armed = this.#armed.filter((other) => other !== armed);
  }
}
