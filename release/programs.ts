// The programs that a release calls. What the machine lacks is found out before anything is built.
import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from 'node:child_process';

export interface Programs {
  /** Undefined where the chart cannot be packaged. */
  readonly helm: string | undefined;
  /** Undefined where no engine answers. */
  readonly docker: string | undefined;
}

/** HEADWATER_HELM and HEADWATER_DOCKER name others than those of the PATH. */
export function findPrograms(environment: NodeJS.ProcessEnv): Programs {
  const { HEADWATER_HELM: helm = 'helm', HEADWATER_DOCKER: docker = 'docker' } = environment;
  return {
    helm: answers(helm, ['version']) ? helm : undefined,
    // The client alone answers too: the engine is what builds.
    docker: answers(docker, ['version', '--format', '{{.Server.Version}}']) ? docker : undefined,
  };
}

/** Whether it ends well. */
function answers(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** In `directory`. What it says goes to standard error, so that standard output is the account of the release alone. */
export function carryOut(directory: string, program: string, ...args: readonly string[]): void {
  orFailure([program, ...args], () =>
    execFileSync(program, args, { cwd: directory, stdio: ['ignore', 2, 2] }),
  );
}

/** What it says on standard output. */
export function answerOf(directory: string, program: string, ...args: readonly string[]): string {
  const options: ExecFileSyncOptionsWithStringEncoding = {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
  };
  return orFailure([program, ...args], () => execFileSync(program, args, options)).trimEnd();
}

/** A program that was called did not end well; it has said why. */
export class ProgramFailure extends Error {}

function orFailure<T>(words: readonly string[], call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw new ProgramFailure(words.join(' '), { cause });
  }
}
