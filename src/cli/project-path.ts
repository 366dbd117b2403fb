import { relative } from 'node:path'
import { fail } from '../base/failure.ts'
import type { Call } from './command.ts'
import { openProject, type Project } from './project.ts'

/**
 * The project for a command that reads documents only. Where no project file says which directory is meant, it is the one the
 * command was started in, so that a document is judged with those around it and named as the person named it.
 * @param near a path the command was given, absolute
 */
export async function openDocuments(call: Call, near?: string): Promise<Project> {
  const project = await openProject(call, near)
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
