import { relative } from 'node:path'
import { fail } from '../base/failure.ts'
import type { Project } from './project.ts'

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
