import { lint, type LintOptions } from '../../documents/lint.ts'
import { loadWorkspace } from '../../documents/load.ts'
import type { Call } from '../command.ts'
import type { Project } from '../lsp/folder.ts'
import { serveLanguage } from '../lsp/serve.ts'
import { openProject, projectRoot } from '../project.ts'
import { createNotebook, hasRegistry } from '../registry.ts'

export async function lsp(call: Call): Promise<void> {
  const { createConnection } = await import('vscode-languageserver/node')
  // The protocol owns both streams for as long as the process lives; the connection ends it as the protocol says.
  const connection = createConnection(process.stdin, process.stdout)
  serveLanguage(connection, (directory) => {
    const cwd = directory === undefined || call.globals.cwd !== undefined ? call.cwd : directory
    const at = { ...call, cwd }
    return { root: projectRoot(at), check: checkOf(at) }
  })
  connection.listen()
  await new Promise<void>((ended) => call.signal.addEventListener('abort', () => ended()))
}

/** The project file is read each time: it may be what is being edited. */
function checkOf(call: Call): Project['check'] {
  const notebook = createNotebook()
  return async (overlay) => {
    const project = await openProject(call)
    const { config, directory } = project
    const workspace = await loadWorkspace(directory, { overlay, ...(config.include && { include: config.include }) })
    const options: LintOptions = {
      strict: config.lint?.profile === 'strict',
      published: notebook,
      ...(config.lint?.rules && { rules: config.lint.rules }),
      ...(config.providers && { providers: config.providers }),
      ...(config.guardrails && { guardrails: config.guardrails.map((path) => path.replace(/^\.\//, '')) }),
    }
    let findings = lint(workspace, options)
    if (notebook.wants && hasRegistry(project)) {
      const { withOperator } = await import('../operator.ts')
      if (await withOperator(project, call, (operator) => notebook.fetch(operator))) findings = lint(workspace, options)
    }
    return { workspace, findings, providers: Object.keys(config.providers ?? {}) }
  }
}
