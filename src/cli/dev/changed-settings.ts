import { isDeepStrictEqual } from 'node:util'
import type { CommandContext } from '../shell/command.ts'
import { openProject, type Project } from '../project/project.ts'

/**
 * The project as its file says now, where that is something else than the running server was started with: programs, handlers, hosts and
 * limits are taken once. Undefined where the file did not change, or only a comment in it.
 * @throws Failure `config_invalid`, `file_missing`, `file_unusable`
 */
export async function readChangedSettings(
  call: Pick<CommandContext, 'cwd' | 'globals' | 'io'>,
  project: Project,
  changed: readonly string[],
): Promise<Project | undefined> {
  if (project.file === undefined || !changed.includes(project.file)) return undefined
  const now = await openProject(call, project.file)
  return isDeepStrictEqual(now.config, project.config) ? undefined : now
}
