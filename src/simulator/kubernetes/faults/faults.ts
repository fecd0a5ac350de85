// What goes wrong on purpose: rules that refuse, lose, delay or break requests and watches, each for a number of times.
import type { Clock } from '../../../scheduling/clock.ts';
import { type Failure, StatusError } from '../api-status.ts';
import { type LineFate, OpenWatches } from '../reading/open-watches.ts';

export type FaultEffect =
  /** Answers with this refusal instead of doing anything. */
  | { readonly kind: 'refuse'; readonly failure: Failure }
  /** Breaks the connection before the request is looked at. */
  | { readonly kind: 'dropBefore' }
  /** Carries the request out, then breaks the connection instead of answering. */
  | { readonly kind: 'dropAfter' }
  /** Looks at the request only after so many ms. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Hands watch events over so many ms late. */
  | { readonly kind: 'delayEvents'; readonly ms: number }
  /** Hands watch events over twice. */
  | { readonly kind: 'duplicateEvents' };

export interface FaultRule {
  /** Upper case; any when left out. */
  readonly method?: string;
  /** Tested against path and query; any when left out. */
  readonly path?: RegExp;
  /** How many requests or events it strikes; 1 when left out, `Infinity` until it is taken back. */
  readonly times?: number;
  readonly effect: FaultEffect;
}

/** The connection broke: there is no answer, or no more of it. */
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
}

export class Faults {
  /** The watches that faults strike. */
  readonly openWatches: OpenWatches;
  readonly #expireHistory: () => void;
  #armed: ArmedRule[] = [];

  constructor(clock: Clock, expireHistory: () => void) {
    this.openWatches = new OpenWatches(clock, (url) => this.#fateOfLine(url));
    this.#expireHistory = expireHistory;
  }

  /** Rules strike in the order in which they were injected. The returned function takes the rule back. */
  inject(rule: FaultRule): () => void {
    const armed = { rule, left: rule.times ?? 1 };
    this.#armed.push(armed);
    return () => {
      this.#armed = this.#armed.filter((other) => other !== armed);
    };
  }

  /** Takes back every rule. */
  clear(): void {
    this.#armed = [];
  }

  /** The rules in force, with how often each will still strike. */
  rules(): readonly FaultRule[] {
    return this.#armed.map(({ rule, left }) => ({ ...rule, times: left }));
  }

  /** Ends the matching watches as a server does that goes down in good order; answers how many. */
  closeWatches(path = /^/): number {
    const watches = this.openWatches.matching(path);
    for (const watch of watches) watch.end();
    return watches.length;
  }

  /** Breaks the matching watches off in the middle of a line; answers how many. */
  cutWatches(path = /^/): number {
    const watches = this.openWatches.matching(path);
    for (const { lines } of watches) {
      lines.push('{"type":"MODIFIED","object":{"apiVer');
      lines.fail(new ConnectionDropped());
    }
    return watches.length;
  }

  /** Lets the server forget every version before the current one: what continues or resumes from there gets 410. */
  expireHistory(): void {
    this.#expireHistory();
  }

  /** What happens to a request; strikes the rules that it meets. */
  fateOfRequest(method: string, url: string): RequestFate {
    let delay = 0;
    for (const armed of this.#meeting(method, url)) {
      const { effect } = armed.rule;
      if (effect.kind === 'delay') {
        this.#strike(armed);
        delay += effect.ms;
      } else if (effect.kind === 'refuse') {
        this.#strike(armed);
        return { delay, refusal: new StatusError(effect.failure), dropped: 'no' };
      } else if (effect.kind === 'dropBefore' || effect.kind === 'dropAfter') {
        this.#strike(armed);
        return { delay, refusal: undefined, dropped: effect.kind === 'dropBefore' ? 'before' : 'after' };
      }
    }
    return { delay, refusal: undefined, dropped: 'no' };
  }

  #fateOfLine(url: string): LineFate {
    let delay = 0;
    let copies = 1;
    for (const armed of this.#meeting('GET', url)) {
      const { effect } = armed.rule;
      if (effect.kind === 'delayEvents') delay += effect.ms;
      else if (effect.kind === 'duplicateEvents') copies = 2;
      else continue;
      this.#strike(armed);
    }
    return { delay, copies };
  }

  #meeting(method: string, url: string): readonly ArmedRule[] {
    return this.#armed.filter(
      ({ rule }) => (rule.method ?? method) === method && (rule.path === undefined || rule.path.test(url)),
    );
  }

  #strike(armed: ArmedRule): void {
    armed.left--;
    if (armed.left <= 0) this.#armed = this.#armed.filter((other) => other !== armed);
  }
}
