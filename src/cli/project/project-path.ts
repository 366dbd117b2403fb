import { existsSync } from 'node:fs'
import { basename, dirname, relative, resolve, sep } from 'node:path'
import { fail } from '../../base/failure.ts'
import type { CommandContext } from '../shell/command.ts'
import { linkStatOf, namesIn, statOf } from '../files/first-files.ts'
import { nearestWord } from '../shell/nearest.ts'
import { directoryFiles } from '../../documents/text/files.ts'
import { isGlob, parseGlobs } from '../../documents/text/ignore.ts'
import { openProject, type Project } from './project.ts'

/**
 * The project for a command that reads documents only. Where no project file says which directory is meant, it is the one the
 * command was started in, so that a document is judged with those around it and named as the person named it.
 * @param near a path the command was given, absolute; it may be a glob
 */
export async function openDocuments(call: CommandContext, near?: string): Promise<Project> {
  const project = await openProject(call, near && (globOf(near)?.directory ?? near))
  const { cwd, io } = call
  // A home directory holds all projects; reading them all would help nobody.
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
    throw fail(
      'usage',
      { what: `${path} lies outside of ${directory}.` },
      { fix: 'Start svc in its project, or with -C.' },
    )
  return found
}

/**
 * Refuses paths at which no document can stand: one that is misspelt must not pass for one without faults.
 * @throws Failure `no_documents`
 */
export function needPaths(cwd: string, paths: readonly string[]): void {
  for (const path of paths) {
    const whole = resolve(cwd, path)
    const glob = globOf(whole)
    if (glob !== undefined) {
      if (leadsSomewhere(glob)) continue
      throw fail('no_documents', { where: path, why: 'no file matches' }, { fix: EVERYTHING })
    }
    const [own, there] = [linkStatOf(whole), statOf(whole)]
    // The walk of a project follows no link; one that leads to a project is the user's own way there.
    const isLink = own?.isSymbolicLink() === true && !relative(cwd, whole).startsWith('..')
    if (!isLink && (there?.isFile() || there?.isDirectory())) continue
    const why =
      own === undefined
        ? 'there is no such file'
        : isLink
          ? 'it is a symbolic link, and none is followed'
          : 'it is no regular file; `-` is standard input'
    const near = own ? undefined : nearestWord(basename(whole), namesIn(dirname(whole)))
    const fix = near === undefined ? EVERYTHING : `Did you mean ${near}?`
    throw fail('no_documents', { where: path, why }, { fix })
  }
}

const EVERYTHING = 'Without a path all documents of the project are read.'

interface Glob {
  /** Where it is looked for, absolute. */
  readonly directory: string
  /** From there. */
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
