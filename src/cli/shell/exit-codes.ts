/** Every code a command may end with. Source: docs/design/command-line.md#exit-codes */
export const exitCodes: Readonly<Record<number, { readonly meaning: string; readonly typical: string }>> = {
  0: { meaning: 'success', typical: '' },
  1: {
    meaning: 'the thing examined is bad',
    typical: 'lint errors, failed tests, a run that failed or was rejected, a difference found by --check',
  },
  2: {
    meaning: 'usage, configuration or invalid request',
    typical:
      'unknown flag, bad svc.config.yaml, an unusable file or folder, no prompt possible, 400, 405, 413, 415, 422',
  },
  3: { meaning: 'waiting for a person', typical: 'the run is paused and this process may not or cannot answer' },
  4: { meaning: 'not authenticated or not allowed', typical: 'missing key, 401, 403' },
  5: { meaning: 'not found', typical: '404, no such id, no such file' },
  6: {
    meaning: 'conflict or precondition',
    typical: '409, task already decided, port taken, version exists with other content, directory not empty',
  },
  7: { meaning: 'limit', typical: '429, concurrency, plan or storage limit' },
  8: { meaning: 'unavailable', typical: 'no server, connection refused, 5xx after retries, a full disk' },
  9: { meaning: 'timed out', typical: '--timeout elapsed; the remote work continues' },
  70: { meaning: 'internal error', typical: 'a bug of svc' },
  130: { meaning: 'interrupted', typical: 'Ctrl-C' },
  141: { meaning: 'closed pipe', typical: 'svc runs list | head -1' },
  143: { meaning: 'terminated', typical: 'SIGTERM' },
}
