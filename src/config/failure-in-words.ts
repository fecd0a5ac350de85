// Explains why a file or directory is unreadable, worded to follow "because".

export function failureInWords(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return 'it does not exist';
    case 'ENOTDIR':
      return 'it is not a directory';
    case 'EISDIR':
      return 'it is a directory';
    case 'EACCES':
    case 'EPERM':
      return 'this process may not read it';
    default:
      return `reading it failed (${code ?? String(error)})`;
  }
}
