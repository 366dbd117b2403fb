import { isDeepStrictEqual } from 'node:util'
import type { CommandContext } from '../shell/command.ts'
import { openProject, type Project } from '../project/project.ts'

/**
 * Whether the project file says something else than when the server began, which keeps what it said then: programs, handlers,
 * hosts and limits are taken once. A comment changes nothing.
 * @throws Failure `config_invalid`, `file_missing`, `file_unusable`
 */
export async function haveSettingsChanged(
  call: Pick<CommandContext, 'cwd' | 'globals' | 'io'>,
  project: Project,
  changed: readonly string[],
): Promise<boolean> {
  if (project.file === undefined || !changed.includes(project.file)) return false
  const { config } = await openProject(call, project.file)
  return !isDeepStrictEqual(config, project.config)
}
