// How a program of the checks starts and ends: a signal asks it to end, an error is printed as one line, and the resolved value
// is its exit code. Not for a program whose exit code says that it was interrupted.

/** Its last act in the file that calls it. `signal` is aborted by Ctrl-C and by a termination signal. */
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
