// The error for a value that does not fit its type.

/** The message is that of Go's decoder. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecodeError';
  }
}
