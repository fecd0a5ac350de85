// How cilium-operator's algorithm would drive a scale-up, as a model in virtual time: one rate limiter for all calls, one
// mutation a maintenance run, one reading of the instance after each run that changed something, publication after every
// resync. It is a model and not the program: what it assumes is printed with its results.
import { latencies } from '../clouds/ec2-limits.ts';
import type { Bucket } from '../floor.ts';
import { EventQueue } from './event-queue.ts';

export interface OperatorPlan {
  readonly nodes: number;
  /** 1: each node needs an interface. 0: one assignment is enough for each. */
  readonly firstInterfaceIndex: 0 | 1;
  /** Multiplies the limiter and divides the latencies, as it does for whom it is compared with. */
  readonly scale: number;
}

export interface OperatorScaleUp {
  /** Until the last node was published with its addresses, in seconds. */
  readonly seconds: number;
  readonly half: number;
  readonly mutating: number;
  readonly reads: number;
}

/** `--limit-ipam-api-qps` and `--limit-ipam-api-burst` by default. */
const limiter: Bucket = { capacity: 20, refill: 4 };
/** Between two periodic resyncs, in seconds, from the end of one to the begin of the next. */
const resyncInterval = 60;
/** Least time between two runs of a trigger, in seconds. */
const triggerInterval = 0.01;
/** VPCs, subnets, security groups and route tables, in turn; then all interfaces. */
const readsOfResync = [0.15, 0.15, 0.15, 0.15, latencies.DescribeNetworkInterfaces] as const;

/** What the model takes for granted, in sentences. */
export const operatorAssumptions: readonly string[] = [
  `one rate limiter for all calls: ${limiter.capacity} at once, ${limiter.refill} a second, first come first served, each page one call`,
  'every node runs maintenance for itself and at once; a run makes one change: assign, or create, attach and modify in turn',
  'after a run that changed something the instance is read (one DescribeNetworkInterfaces), and then all nodes are published',
  'a node is published with what its run brought by the first reading, of any instance or of everything, that ends after the run',
  `everything is read again ${resyncInterval} s after the last time: ${readsOfResync.length} calls`,
  'all instances are known before the nodes come; reading, deciding and writing to Kubernetes take no time; EC2 never refuses',
  'mean latencies without scatter, the same as of the EC2 model',
];

type Call = 'mutating' | 'read';

class OperatorModel {
  readonly #plan: OperatorPlan;
  readonly #events = new EventQueue();
  readonly #publishedAt: number[] = [];
  readonly #calls = { mutating: 0, read: 0 };
  /** Readings that follow from runs and are still to come. */
  #readingsDue: number;
  /** Nodes whose run is over and that are not published yet. */
  #unpublished = 0;
  /** When the limiter has a token for the next caller, counted in its own time: behind `now` while tokens are there. */
  #reservedUntil: number;

  constructor(plan: OperatorPlan) {
    this.#plan = plan;
    this.#readingsDue = plan.nodes;
    this.#reservedUntil = -limiter.capacity / limiter.refill;
  }

  run(): OperatorScaleUp {
    const { nodes } = this.#plan;
    for (let index = 0; index < nodes; index++) this.#events.after(0, () => this.#maintain());
    this.#resyncLater();
    this.#events.run(() => this.#readingsDue === 0);
    return {
      seconds: this.#publishedAt.at(-1) ?? 0,
      half: this.#publishedAt[Math.ceil(nodes / 2) - 1] ?? 0,
      mutating: this.#calls.mutating,
      reads: this.#calls.read,
    };
  }

  get #actions(): readonly number[] {
    return this.#plan.firstInterfaceIndex === 0
      ? [latencies.AssignPrivateIpAddresses]
      : [
          latencies.CreateNetworkInterface,
          latencies.AttachNetworkInterface,
          latencies.ModifyNetworkInterfaceAttribute,
        ];
  }

  #maintain(): void {
    this.#callInTurn('mutating', this.#actions, () => {
      this.#unpublished++;
      this.#events.after(triggerInterval / this.#plan.scale, () =>
        this.#callInTurn('read', [latencies.DescribeNetworkInterfaces], () => {
          this.#readingsDue--;
          this.#publishAll();
        }),
      );
    });
  }

  #resyncLater(): void {
    this.#events.after(resyncInterval / this.#plan.scale, () =>
      this.#callInTurn('read', readsOfResync, () => {
        this.#publishAll();
        this.#resyncLater();
      }),
    );
  }

  #publishAll(): void {
    for (; this.#unpublished > 0; this.#unpublished--) this.#publishedAt.push(this.#events.now);
  }

  /** One call after another, each when the limiter has a token for it. */
  #callInTurn(kind: Call, [first, ...rest]: readonly number[], done: () => void): void {
    if (first === undefined) {
      done();
      return;
    }
    const { scale } = this.#plan;
    this.#events.after(this.#waitForToken() + first / scale, () => {
      this.#calls[kind]++;
      this.#callInTurn(kind, rest, done);
    });
  }

  #waitForToken(): number {
    const { scale } = this.#plan;
    const { now } = this.#events;
    const refill = limiter.refill * scale;
    const full = now - (limiter.capacity * scale) / refill;
    this.#reservedUntil = Math.max(this.#reservedUntil, full) + 1 / refill;
    return Math.max(0, this.#reservedUntil - now);
  }
}

export function operatorScaleUp(plan: OperatorPlan): OperatorScaleUp {
  return new OperatorModel(plan).run();
}
