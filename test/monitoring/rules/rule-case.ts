// What a test of one alert says: series under which it fires, series under which it must not, and series under which it
// fires and clears again. Values are written as promtool has them (`0x30`, `100-2x60`), a value a minute.

export type Values = Readonly<Record<string, string>>;

export type Labels = Readonly<Record<string, string>>;

export interface Fires {
  readonly series: Values;
  /** When the condition holds, and not for long enough yet. */
  readonly pending: string;
  readonly at: string;
  /** The value, as its texts show it. */
  readonly shows?: string;
}

/** Close to firing: what keeps it from doing so is said here. */
export interface Quiet {
  readonly because: string;
  readonly series: Values;
  readonly at: string;
}

export interface RuleCase {
  readonly alert: string;
  /** Labels of the alert beyond its name and severity. */
  readonly labels: Labels;
  readonly fires: Fires;
  readonly quiet: Quiet;
  readonly clears: { readonly series: Values; readonly firing: string; readonly cleared: string };
  /** One for each further reason to fire, with the labels that it has then. */
  readonly alsoFires?: readonly (Fires & { readonly because: string; readonly labels?: Labels })[];
  /** One for each further condition. */
  readonly alsoQuiet?: readonly Quiet[];
}
