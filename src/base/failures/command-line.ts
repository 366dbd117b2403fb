/** Failures of files that the user named, and of the command line itself. */
import { EXIT, type FailureRow } from './failure-row.ts'

export const commandLineFailures = {
  file_missing: {
    exit: EXIT.absent,
    message: (a: { path: string; doing: string }) =>
      `${a.path} cannot be ${a.doing}: there is no such file or directory.`,
    fix: 'Check the path.',
  },
  file_unusable: {
    exit: EXIT.usage,
    message: (a: { path: string; doing: string; why: string }) => `${a.path} cannot be ${a.doing}: ${a.why}.`,
    fix: 'Choose another path, or change its permissions.',
  },
  data_directory_unusable: {
    exit: EXIT.usage,
    message: (a: { directory: string; why: string }) => `${a.directory} cannot be used as a data directory: ${a.why}.`,
    fix: 'Name another directory with --data.',
  },
  data_directory_full: {
    exit: EXIT.usage,
    message: (a: { directory: string; why: string }) => `There is no space for data in ${a.directory}: ${a.why}.`,
    fix: 'Free disk space there, or name another directory with --data.',
  },

  usage: { exit: EXIT.usage, message: (a: { what: string }) => a.what },
  config_invalid: { exit: EXIT.usage, message: (a: { what: string }) => a.what },
  no_project: {
    exit: EXIT.usage,
    message: (a: { directory: string }) =>
      `There is no svc.config.yaml in ${a.directory} or above, and no data directory was named.`,
    fix: 'svc init writes a project; --data DIR names a data directory.',
  },
  needs_terminal: { exit: EXIT.usage, message: (a: { what: string }) => a.what },
  directory_not_empty: {
    exit: EXIT.conflict,
    message: (a: { directory: string }) => `${a.directory} is not empty.`,
    fix: 'Choose another directory, or --force.',
  },
  port_taken: {
    exit: EXIT.conflict,
    message: (a: { host: string; port: number; why: string }) => `Cannot listen on ${a.host}:${a.port}: ${a.why}.`,
    fix: 'Choose another with --port.',
  },
  no_server: {
    exit: EXIT.unavailable,
    message: (a: { url: string }) => `No server answers at ${a.url}.`,
    fix: 'svc dev starts one.',
  },
  ambiguous_reference: {
    exit: EXIT.usage,
    message: (a: { text: string; candidates: string }) => `"${a.text}" could be ${a.candidates}.`,
  },
  login_refused: { exit: EXIT.denied, message: (a: { what: string }) => a.what },
  timed_out: { exit: EXIT.timeout, message: (a: { after: string }) => `Gave up after ${a.after}; the work continues.` },
} satisfies Record<string, FailureRow>
