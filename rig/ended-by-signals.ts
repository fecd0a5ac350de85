// The start and the end of a program of the checks: a signal asks it to end, an error is printed as one line, and the
// resolved value is its exit code. Not for a program whose exit code reports the interruption.

/** The last call of the calling file. `signal` is aborted by Ctrl-C and by a termination signal. */
export async function endedBySignals(main: (signal: AbortSignal) => Promise<number>): Promise<void> {
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => interrupt.abort(new Error(name)));
  try {
    process.exitCode = await main(interrupt.signal);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
