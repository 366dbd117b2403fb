/** Why an address cannot be listened on, in words. */
export const describeBindError = (error: NodeJS.ErrnoException): string => WHY[error.code ?? ''] ?? error.message

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name is unknown',
}
