import { loadWorkspace, type LoadOptions } from '../../documents/workspace/load.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { Project } from './project.ts'

/** The documents of a project, from the files that its configuration includes. */
export const loadDocuments = (
  { directory, config: { include } }: Pick<Project, 'directory' | 'config'>,
  options: Omit<LoadOptions, 'include'> = {},
): Promise<Workspace> => loadWorkspace(directory, { ...options, ...(include && { include }) })
