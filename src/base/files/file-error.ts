/** Describes file system errors. Errors of sockets and processes have similar codes but are not described here. */
import { fail, type Failure } from '../failure.ts'
import { ownMember } from '../json/own-member.ts'

export interface FileError {
  /** Absent where the system does not name the file, as for a full disk. */
  readonly path?: string
  /** `opened`, `read`, `written`, `made`, `changed`: completes "cannot be …". */
  readonly doing: string
  readonly why: string
  readonly isMissing: boolean
}

/** Undefined for other errors than those of a file system. */
export function fileErrorOf(error: unknown): FileError | undefined {
  if (!(error instanceof Error)) return undefined
  const { code = '', syscall = '', path, dest } = error as NodeJS.ErrnoException & { readonly dest?: string }
  const reason = ownMember(REASONS, code)
  if (reason === undefined || NO_FILE_CALLS.test(syscall)) return undefined
  const limited =
    syscall === 'watch' && WATCH_LIMIT.has(code)
      ? 'the system watches as many files as it may (fs.inotify.max_user_watches, max_user_instances)'
      : reason
  // Directories are created from the top down, so a missing one means a file system that cannot hold it.
  const isForbidden = code === 'ENOENT' && syscall === 'mkdir'
  const named = dest ?? path
  return {
    ...(named !== undefined && { path: named }),
    doing: DOING[syscall] ?? 'changed',
    why: isForbidden ? 'this file system takes no new directories' : limited,
    isMissing: code === 'ENOENT' && !isForbidden,
  }
}

/**
 * The failure to report: `file_missing` where something does not exist, else `file_unusable`. Undefined for an error that
 * does not come from a file system.
 * @param known fields that the caller knows better than the error: the path as the user named it, the attempted action
 */
export function fileFailure(
  error: unknown,
  known: Partial<Pick<FileError, 'path' | 'doing'>> = {},
): Failure | undefined {
  const found = fileErrorOf(error)
  if (!found) return undefined
  const about = { path: 'A file', ...found, ...known }
  return fail(found.isMissing ? 'file_missing' : 'file_unusable', about, {
    cause: error,
    ...(found.why === NO_SPACE && { fix: 'Free disk space there, or choose another path.' }),
  })
}

/**
 * Runs work that needs the data directory.
 * @throws Failure `data_directory_unusable` or `data_directory_full` in place of an error of the file system
 */
export function runInDataDirectory<T>(directory: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const found = fileErrorOf(error)
    if (!found) throw error
    if (isFullDisk(error)) throw fail('data_directory_full', { directory, why: NO_SPACE }, { cause: error })
    throw fail('data_directory_unusable', { directory, why: found.why }, { cause: error })
  }
}

/** The system names no path with such an error, so whoever knows the directory adds it. */
export const isFullDisk = (error: unknown): boolean =>
  error instanceof Error && ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')

export const NO_SPACE = 'no space is left on the device'

/** By error code. Only codes that a user can do something about are listed. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EBUSY: 'it is in use',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'something else has this name',
  EFBIG: 'it is too large',
  EINVAL: 'the file system does not allow it',
  EIO: 'the device reports an error',
  EISDIR: 'it is a directory',
  ELOOP: 'its symbolic links lead in a circle',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ENFILE: 'too many files are open',
  ENODEV: 'there is no such device',
  ENOENT: 'there is no such file or directory',
  ENOSPC: NO_SPACE,
  ENOTDIR: 'a part of the path is a file, not a directory',
  ENOTEMPTY: 'the directory is not empty',
  ENXIO: 'there is no such device',
  EOVERFLOW: 'the file is too large',
  EPERM: 'the operation is not permitted',
  EROFS: 'the file system is read-only',
  ESTALE: 'the file is no longer there',
  ETXTBSY: 'it is a program that is running',
  EXDEV: 'it is on another file system',
  ERR_FIFO_SILENT: 'it is a pipe, and nobody writes to it',
  ERR_FS_EISDIR: 'it is a directory',
  ERR_FS_FILE_TOO_LARGE: 'the file is larger than 2 GiB',
}

/** Error of Linux when no more files may be watched. */
const WATCH_LIMIT = new Set(['EMFILE', 'ENOSPC'])

const NO_FILE_CALLS = /^(?:spawn|connect|listen|bind|accept|getaddrinfo|kill|send|recv|shutdown|uv_)/

const DOING: Readonly<Record<string, string>> = {
  '': 'read',
  access: 'read',
  fstat: 'read',
  lstat: 'read',
  mkdir: 'made',
  mkdtemp: 'made',
  open: 'opened',
  opendir: 'read',
  read: 'read',
  readlink: 'read',
  realpath: 'read',
  scandir: 'read',
  stat: 'read',
  statfs: 'read',
  watch: 'watched',
  write: 'written',
}
