import { createConnection, type Connection } from 'vscode-languageserver/node'
import { loadFiles } from '../../../documents/workspace/load.ts'
import { seemsOurs } from '../../../documents/workspace/document-head.ts'
import { lintWorkspace } from '../../../documents/lint/lint.ts'
import type { CommandContext } from '../../shell/command.ts'
import type { LspProject } from '../../../lsp/folder.ts'
import { serveLanguage } from '../../../lsp/serve.ts'
import { openProject, projectRoot } from '../../project/project.ts'
import { createFetchedRegistry, hasRegistry } from '../../project/registry.ts'
import { lintOptionsOf } from '../../project/lint-options.ts'
import { loadDocuments } from '../../project/documents.ts'
import { findMissingHandlers } from '../../project/missing-handlers.ts'

export async function lsp(call: CommandContext): Promise<void> {
  // The protocol owns both streams; the connection ends the process as the protocol defines.
  answerEditor(createConnection(process.stdin, process.stdout), call)
  await new Promise<void>((ended) => call.signal.addEventListener('abort', () => ended()))
}

export function answerEditor(connection: Connection, call: CommandContext): void {
  serveLanguage(connection, (directory) => {
    const cwd = directory === undefined || call.globals.cwd !== undefined ? call.cwd : directory
    const at = { ...call, cwd }
    return { root: projectRoot(at), check: checkOf(at) }
  })
  connection.listen()
}

/** Reads the project file each time, since it may be the file being edited. */
function checkOf(call: CommandContext): LspProject['check'] {
  const registry = createFetchedRegistry()
  return async (overlay) => {
    const project = await openProject(call)
    // Editors start one server for all YAML: without a project file, nothing but open texts is read until one of them is ours.
    if (project.file === undefined && !Object.values(overlay).some((text) => seemsOurs(String(text))))
      return { workspace: loadFiles(overlay), findings: [], providers: [], guardrails: [] }
    const workspace = await loadDocuments(project, { overlay })
    const missingHandlers = await findMissingHandlers(project)
    const names = hasRegistry(project) ? registry.unknown(workspace) : []
    if (names.length > 0) {
      const { withOperatorOf } = await import('../../project/server/operator.ts')
      await withOperatorOf(project, call, (operator) => registry.fetch(operator, names))
    }
    const options = { ...lintOptionsOf(project.config), published: registry, missingHandlers }
    const findings = lintWorkspace(workspace, options)
    const { providers = {}, guardrails = [] } = project.config
    return { workspace, findings, providers: Object.keys(providers), guardrails }
  }
}
