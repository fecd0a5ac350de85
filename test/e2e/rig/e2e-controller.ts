// A controller in a process of its own, with its log.
import { askText, getText, type TextAnswer } from '../../../rig/http.ts';
import { type ControllerOptions, ControllerProcess } from '../../../rig/controller-process.ts';

/** A line of its log. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** The line as it was written. */
  readonly text: string;
}

export interface E2eControllerOptions extends ControllerOptions {
  /** Its identity in EC2. */
  readonly user: string;
}

export class E2eController {
  readonly process: ControllerProcess;
  readonly lines: readonly LogLine[];
  /** Its identity in EC2. */
  readonly user: string;

  private constructor(process: ControllerProcess, lines: readonly LogLine[], user: string) {
    this.process = process;
    this.lines = lines;
    this.user = user;
  }

  /** Resolves once it serves health, metrics and status, ready or not. */
  static async start({ user, ...options }: E2eControllerOptions): Promise<E2eController> {
    const lines: LogLine[] = [];
    const process = await ControllerProcess.start({
      ...options,
      bound: true,
      onLine: (text) => lines.push(readLine(text)),
    });
    return new E2eController(process, lines, user);
  }

  /** Its name as a holder of the Lease. */
  async identity(signal: AbortSignal): Promise<string> {
    const status = JSON.parse(await getText(this.process.urlOf('/status'), signal)) as { identity: string };
    return status.identity;
  }

  /** Lines of that level. */
  at(level: 'error' | 'info' | 'warn'): readonly LogLine[] {
    return this.lines.filter((line) => line.level === level);
  }

  /** The answer of `/readyz`. */
  readiness(signal: AbortSignal): Promise<TextAnswer> {
    return askText('GET', this.process.urlOf('/readyz'), undefined, signal);
  }

  /** The requests that the API server has refused with 403 so far, from the metric of requests: `patch ciliumnodes`. */
  async refused(signal: AbortSignal): Promise<readonly string[]> {
    const series =
      /^headwater_kubernetes_requests_total\{verb="(\w+)",resource="([\w/]+)",code="403"\} [1-9]/gm;
    const found = (await this.process.scrape(signal)).matchAll(series);
    return Array.from(found, ([, verb, resource]) => `${verb} ${resource}`);
  }

  /** Value of a series, such as `headwater_leader` or `x{a="b"}`; undefined if it does not exist. */
  metric(series: string, signal: AbortSignal): Promise<number | undefined> {
    return this.process.metric(series, signal);
  }
}

function readLine(text: string): LogLine {
  try {
    const { level, msg, time: _, ...details } = JSON.parse(text) as Record<string, unknown>;
    return { level: String(level), message: String(msg), details, text };
  } catch {
    return { level: 'error', message: text, details: {}, text };
  }
}
