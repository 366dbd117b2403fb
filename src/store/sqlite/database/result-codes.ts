/** Result codes of SQLite as names, as better-sqlite3 gives them. Source: sqlite.org/rescode.html. */

/** By number; the number of an extended code is that of its primary code plus 256 times its place in the list. */
const CODES: Readonly<Record<number, readonly [name: string, extended?: string]>> = {
  1: ['ERROR', 'MISSING_COLLSEQ RETRY SNAPSHOT RESERVESIZE KEY UNABLE'],
  2: ['INTERNAL'],
  3: ['PERM'],
  // Nothing has the place 1 here.
  4: ['ABORT', ' ROLLBACK'],
  5: ['BUSY', 'RECOVERY SNAPSHOT TIMEOUT'],
  6: ['LOCKED', 'SHAREDCACHE VTAB'],
  7: ['NOMEM'],
  8: ['READONLY', 'RECOVERY CANTLOCK ROLLBACK DBMOVED CANTINIT DIRECTORY'],
  9: ['INTERRUPT'],
  10: [
    'IOERR',
    'READ SHORT_READ WRITE FSYNC DIR_FSYNC TRUNCATE FSTAT UNLOCK RDLOCK DELETE BLOCKED NOMEM ACCESS CHECKRESERVEDLOCK LOCK CLOSE ' +
      'DIR_CLOSE SHMOPEN SHMSIZE SHMLOCK SHMMAP SEEK DELETE_NOENT MMAP GETTEMPPATH CONVPATH VNODE AUTH BEGIN_ATOMIC COMMIT_ATOMIC ' +
      'ROLLBACK_ATOMIC DATA CORRUPTFS IN_PAGE BADKEY CODEC',
  ],
  11: ['CORRUPT', 'VTAB SEQUENCE INDEX'],
  12: ['NOTFOUND'],
  13: ['FULL'],
  14: ['CANTOPEN', 'NOTEMPDIR ISDIR FULLPATH CONVPATH DIRTYWAL SYMLINK'],
  15: ['PROTOCOL'],
  16: ['EMPTY'],
  17: ['SCHEMA'],
  18: ['TOOBIG'],
  19: [
    'CONSTRAINT',
    'CHECK COMMITHOOK FOREIGNKEY FUNCTION NOTNULL PRIMARYKEY TRIGGER UNIQUE VTAB ROWID PINNED DATATYPE',
  ],
  20: ['MISMATCH'],
  21: ['MISUSE'],
  22: ['NOLFS'],
  23: ['AUTH', 'USER'],
  24: ['FORMAT'],
  25: ['RANGE'],
  26: ['NOTADB'],
  27: ['NOTICE', 'RECOVER_WAL RECOVER_ROLLBACK RBU'],
  28: ['WARNING', 'AUTOINDEX'],
}

/** The name of an extended code, such as `SQLITE_CONSTRAINT_UNIQUE`; that of its primary code when a newer SQLite added it. */
export function resultCodeName(code: number): string {
  const [name, extended = ''] = CODES[code & 0xff] ?? ['ERROR']
  const suffix = extended.split(' ')[(code >> 8) - 1]
  return `SQLITE_${name}${suffix ? `_${suffix}` : ''}`
}

/** What SQLite itself says of a primary code, for a driver that loses the number. */
const MESSAGES: readonly (readonly [said: RegExp, code: string])[] = [
  [/ constraint failed\b|^cannot store \w+ value in /, 'SQLITE_CONSTRAINT'],
  [/^database is locked$/, 'SQLITE_BUSY'],
  [/^database table is locked/, 'SQLITE_LOCKED'],
  [/^attempt to write a readonly database$/, 'SQLITE_READONLY'],
  [/^disk I\/O error$/, 'SQLITE_IOERR'],
  [/^database disk image is malformed$/, 'SQLITE_CORRUPT'],
  [/^database or disk is full$/, 'SQLITE_FULL'],
  [/^unable to open database file$/, 'SQLITE_CANTOPEN'],
  [/^string or blob too big$/, 'SQLITE_TOOBIG'],
  [/^datatype mismatch$/, 'SQLITE_MISMATCH'],
  [/^column index out of range$/, 'SQLITE_RANGE'],
  [/^file is not a database$/, 'SQLITE_NOTADB'],
  [/^out of memory$/, 'SQLITE_NOMEM'],
]

/** The primary code that a message stands for. */
export const resultCodeOfMessage = (message: string): string =>
  MESSAGES.find(([said]) => said.test(message))?.[1] ?? 'SQLITE_ERROR'
