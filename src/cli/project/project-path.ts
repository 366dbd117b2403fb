import { existsSync } from 'node:fs'
import { basename, dirname, relative, resolve, sep } from 'node:path'
import { fail } from '../../base/failure.ts'
import type { CommandContext } from '../shell/command.ts'
import { linkStatIfAny, listNamesIfAny, statIfAny } from '../../base/files/sync-files.ts'
import { suggestWord } from '../../base/text/nearest-word.ts'
import { directoryFiles } from '../../documents/text/files.ts'
import { isGlob, parseGlobs } from '../../documents/text/ignore.ts'
import { openProject, type Project } from './project.ts'
import { usageFailure } from '../../base/usage-failure.ts'

/**
 * Opens the project for a command that only reads documents. Without a project file it is the working directory, so that a
 * document is checked together with its neighbours and named as the user typed it.
 * @param near a path the command was given, absolute; it may be a glob
 */
export async function openDocuments(call: CommandContext, near?: string): Promise<Project> {
  const project = await openProject(call, near && (globOf(near)?.directory ?? near))
  const { cwd, io } = call
  // Never the home directory, which holds all projects.
  const isWhole =
    near === undefined || project.file !== undefined || cwd === io.env['HOME'] || relative(cwd, near).startsWith('..')
  return isWhole ? project : { ...project, directory: cwd }
}

/**
 * An absolute path as findings name it: relative to the project, `/` separated.
 * @throws Failure `usage` for a path outside of the project
 */
export function pathInProject({ directory }: Pick<Project, 'directory'>, path: string): string {
  const found = relative(directory, path).replaceAll('\\', '/')
  if (found.startsWith('..'))
    throw usageFailure(`${path} lies outside of ${directory}.`, 'Start svc in its project, or with -C.')
  return found
}

/**
 * Refuses paths that cannot be documents: a misspelt path must not pass as one without errors.
 * @throws Failure `no_documents`
 */
export function requireDocumentPaths(cwd: string, paths: readonly string[]): void {
  for (const path of paths) {
    const whole = resolve(cwd, path)
    const glob = globOf(whole)
    if (glob !== undefined) {
      if (leadsSomewhere(glob)) continue
      throw fail('no_documents', { where: path, why: 'no file matches' }, { fix: EVERYTHING })
    }
    const [own, there] = [linkStatIfAny(whole), statIfAny(whole)]
    // No links inside a project are followed; one that leads to a project from outside is fine.
    const isLink = own?.isSymbolicLink() === true && !relative(cwd, whole).startsWith('..')
    if (!isLink && (there?.isFile() || there?.isDirectory())) continue
    const kind = isLink
      ? 'it is a symbolic link, and none is followed'
      : 'it is not a regular file; `-` is standard input'
    const why = own === undefined ? 'there is no such file' : kind
    const names = own ? [] : listNamesIfAny(dirname(whole))
    throw fail('no_documents', { where: path, why }, { fix: suggestWord(basename(whole), names, EVERYTHING) })
  }
}

const EVERYTHING = 'Without a path all documents of the project are read.'

interface Glob {
  /** Absolute directory in which it is searched. */
  readonly directory: string
  /** Relative to `directory`. */
  readonly pattern: string
}

/** Undefined for a path that is no glob, and where a file has this very name. */
function globOf(path: string): Glob | undefined {
  const names = path.split(sep)
  const first = names.findIndex(isGlob)
  if (first === -1 || existsSync(path)) return undefined
  return { directory: names.slice(0, first).join(sep) || sep, pattern: names.slice(first).join('/') }
}

function leadsSomewhere({ directory, pattern }: Glob): boolean {
  if (!existsSync(directory)) return false
  const patterns = parseGlobs([pattern, `${pattern}/**`])
  return directoryFiles(directory).paths.some((path) => patterns.matches(path))
}
