/** Failures of the store, of leases and of backups. */
import { EXIT, type FailureRow } from './failure-row.ts'

export const storeFailures = {
  run_moved_on: {
    exit: EXIT.conflict,
    message: (a: { sessionId: string; seen: number }) =>
      `Session ${a.sessionId} has changed since version ${a.seen} was read.`,
  },
  lease_lost: {
    exit: EXIT.conflict,
    message: (a: { sessionId: string }) => `Another process holds session ${a.sessionId}.`,
  },
  effect_taken: {
    exit: EXIT.conflict,
    message: (a: { key: string }) => `Another call holds the effect key ${a.key}.`,
  },
  history_moved_on: {
    exit: EXIT.conflict,
    message: () => 'Calls of the workspace were decided since they were counted.',
  },
  plan_spent: {
    exit: EXIT.limit,
    message: (a: { limit: string }) => `The workspace has used up ${a.limit} of its plan.`,
  },
  plan_reserved: {
    exit: EXIT.limit,
    message: (a: { limit: string }) => `Completions in flight may use up ${a.limit} of the workspace's plan.`,
  },
  effect_not_held: {
    status: 404,
    exit: EXIT.absent,
    message: (a: { key: string }) => `No call holds the effect key ${a.key}.`,
    fix: '`svc effects list` shows the keys that are held.',
  },
  effect_in_flight: {
    status: 409,
    exit: EXIT.conflict,
    message: (a: { key: string; runId: string }) => `The call that holds ${a.key} is under way, in run ${a.runId}.`,
    fix: 'Wait for its outcome, or cancel the run and say in its review what happened.',
  },
  state_not_saved: {
    status: 500,
    exit: 70,
    message: (a: { why: string }) => `The outcome cannot be stored: ${a.why}.`,
  },
  store_locked: {
    exit: EXIT.conflict,
    message: (a: { directory: string }) => `The data directory ${a.directory} is held by another process.`,
    fix: 'Stop the other server, or name another directory with --data.',
  },
  native_sqlite_missing: {
    exit: EXIT.usage,
    message: () => 'SQLite cannot be loaded: no package with it is installed for this system and this version of Node.',
    fix: 'npm install --include=optional',
  },
  store_unreadable: {
    exit: EXIT.conflict,
    message: (a: { file: string; why: string }) => `${a.file} cannot be used as a store: ${a.why}.`,
  },
  store_unreachable: {
    status: 503,
    exit: EXIT.unavailable,
    message: (a: { database: string; why: string }) => `The database ${a.database} cannot be used now: ${a.why}.`,
    fix: 'Check that PostgreSQL runs, and that address, user and password are right.',
  },
  store_busy: {
    status: 503,
    exit: EXIT.unavailable,
    message: (a: { database: string; why: string }) =>
      `The database ${a.database} has no room for more work now: ${a.why}.`,
    fix: 'Try again. If this continues, give PostgreSQL more connections (a server needs 14), or find the holder of its locks.',
  },
  store_not_migrated: {
    exit: EXIT.conflict,
    message: (a: { database: string; found: number; newest: number }) =>
      `The database ${a.database} has ${a.found === 0 ? 'no tables of svc' : `schema ${a.found}`}, and this svc needs schema ${a.newest}.`,
    fix: 'Run svc store migrate.',
  },
  store_rights_missing: {
    exit: EXIT.denied,
    message: (a: { database: string; why: string }) => `The user of ${a.database} lacks a right: ${a.why}.`,
    fix: 'Let the user create schemas in the database: grant create on database NAME to USER.',
  },
  store_absent: {
    exit: EXIT.absent,
    message: (a: { store: string }) => `There is no store in ${a.store}.`,
    fix: 'Check the path: sqlite:DIRECTORY names a data directory.',
  },
  store_not_empty: {
    exit: EXIT.conflict,
    message: (a: { store: string; table: string }) =>
      `${a.store} has rows already (in ${a.table}), and a copy takes an empty store.`,
    fix: 'Name a new database, or another data directory.',
  },
  store_served: {
    exit: EXIT.conflict,
    message: (a: { store: string; worker: string }) => `${a.store} is served by ${a.worker}.`,
    fix: 'Stop every server of it first; svc workers list shows them. One that was killed counts for 15 s.',
  },
  store_moved: {
    exit: EXIT.conflict,
    message: (a: { store: string; to: string }) =>
      `${a.store} was copied to ${a.to}: if both went on, everything would be done twice.`,
    fix: 'Serve the copy. If you discarded it: svc store copy --reopen.',
  },
  store_copy_differs: {
    exit: EXIT.bad,
    message: (a: { store: string; table: string }) =>
      `The rows of ${a.table} in ${a.store} are not those of the original; nothing was kept of the copy.`,
    fix: 'Report it, with both versions of svc.',
  },
  store_copy_unknown: {
    exit: EXIT.unavailable,
    message: (a: { store: string; to: string }) =>
      `The connection broke while the copy in ${a.to} was committed: it is complete, or nothing of it is there; ${a.store} stays closed.`,
    fix: 'Check the target with svc runs list. If it has your runs, serve it; else svc store copy --reopen, and copy again.',
  },
  backup_elsewhere: {
    status: 409,
    exit: EXIT.usage,
    message: (a: { database: string }) => `svc does not back up the database ${a.database} itself.`,
    fix: 'Back up the database with pg_dump or another PostgreSQL tool, and the bucket with a tool of your storage.',
  },
  store_of_another: {
    exit: EXIT.conflict,
    message: (a: { database: string; what: 'workspace' | 'bucket'; theirs: string; ours: string }) =>
      `The database ${a.database} belongs to the ${a.what} ${a.theirs}, and this is ${a.ours}: two clusters on one database would run each other's agents.`,
    fix: 'Give each cluster its own database. If it is the same cluster and its bucket has moved: svc store migrate --claim.',
  },
  bucket_not_named: {
    status: 409,
    exit: EXIT.usage,
    message: () => 'Servers that share a database need a bucket for files, and storage.url names none.',
    fix: 'Give storage.url in svc.config.yaml. svc serve takes --storage, and other commands go through the server that holds --data.',
  },
  bucket_unusable: {
    status: 503,
    exit: EXIT.unavailable,
    message: (a: { bucket: string; why: string }) => `The bucket ${a.bucket} cannot be used now: ${a.why}.`,
    fix: 'Check endpoint, bucket, region and credentials of the storage, and the rights to put, get and delete objects there.',
  },
  clock_off: {
    exit: EXIT.unavailable,
    message: (a: { database: string; seconds: number }) =>
      `The clocks of this machine and of the database ${a.database} differ by ${String(a.seconds).replace('-', '')} s.`,
    fix: 'Synchronize both clocks, for example with chrony.',
  },
  postgres_client_missing: {
    exit: EXIT.usage,
    message: () => 'PostgreSQL cannot be used: its client, the package pg, is not installed.',
    fix: 'npm install pg@8.23.1',
  },

  notice_waits: {
    status: 409,
    exit: EXIT.conflict,
    message: () => 'The notice has not ended: it is sent, or tried again, by itself.',
    fix: 'svc notify list shows when.',
  },
  channel_not_configured: {
    status: 404,
    exit: EXIT.absent,
    message: (a: { name: string; known: string }) =>
      `The server has no channel "${a.name}"; notify.channels has ${a.known}.`,
    fix: 'Add it to notify.channels in svc.config.yaml, and start the server again.',
  },

  mail_client_missing: {
    exit: EXIT.usage,
    message: () => 'Mail cannot be sent: its client, the package nodemailer, is not installed.',
    fix: 'npm install nodemailer@10.6.0',
  },

  telemetry_packages_missing: {
    exit: EXIT.usage,
    message: (a: { packages: string }) =>
      `Telemetry cannot be exported: not all of the packages that it needs are installed (${a.packages}).`,
  },
  telemetry_invalid: { exit: EXIT.usage, message: (a: { what: string }) => `Telemetry cannot be exported: ${a.what}.` },

  backup_broken: {
    exit: EXIT.unavailable,
    message: () => 'The server ended before the backup was complete; the received part cannot be restored.',
    fix: 'svc backup again, once the server runs.',
  },
  backup_invalid: { exit: EXIT.bad, message: (a: { why: string }) => `This backup cannot be restored: ${a.why}.` },
} satisfies Record<string, FailureRow>
