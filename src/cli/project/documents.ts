import type { LintOptions } from '../../documents/lint/lint.ts'
import { loadWorkspace, type LoadOptions } from '../../documents/workspace/load.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { ProjectConfig } from '../../spec/config.ts'
import type { Project } from './project.ts'

/** The documents of a project, from the files that its configuration includes. */
export const loadDocuments = (
  { directory, config: { include } }: Pick<Project, 'directory' | 'config'>,
  options: Omit<LoadOptions, 'include'> = {},
): Promise<Workspace> => loadWorkspace(directory, { ...options, ...(include && { include }) })

/** What the configuration of a project says to lint. */
export const lintOptionsOf = ({ lint, providers, prices, guardrails }: ProjectConfig): LintOptions => ({
  strict: lint?.profile === 'strict',
  ...(lint?.rules && { rules: lint.rules }),
  ...(providers && { providers }),
  ...(prices && { prices }),
  ...(guardrails && { guardrails: guardrails.map((path) => path.replace(/^\.\//, '')) }),
})
