import { join, resolve } from 'node:path'
import { fail } from '../../../base/failure.ts'
import type { Diagnostic } from '../../../documents/text/diagnostic.ts'
import { unifiedDiff } from '../../../documents/fmt/diff.ts'
import { formatDocuments } from '../../../documents/fmt/format.ts'
import { loadFiles } from '../../../documents/workspace/load.ts'
import { isUnder } from '../../../documents/text/paths.ts'
import type { Workspace } from '../../../documents/workspace/workspace.ts'
import type { CommandContext } from '../../shell/command.ts'
import { documentsFailure, printFindings } from '../../release/findings.ts'
import { requireDocumentPaths, openDocuments, pathInProject } from '../../project/project-path.ts'
import { stdinBytes, writeOut } from '../../files/stdin-bytes.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import type { fmtAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { loadDocuments } from '../../project/documents.ts'

/** Name of the document on standard input in messages. */
const STDIN = 'stdin.yaml'

export async function fmt(call: CommandContext<ValueOf<typeof fmtAnswer>>): Promise<number> {
  const { given, mode, out, io, cwd } = call
  const paths = given.rest(0)
  const stdin = paths.length === 1 && paths[0] === '-'
  const name = given.text('stdin-filename') ?? STDIN
  const { workspace, directory } = stdin
    ? { workspace: loadFiles({ [name]: await stdinBytes(io) }, { focus: [name] }), directory: cwd }
    : await open(call, paths)
  const texts = textsOf(workspace)
  if (texts.size === 0) throw fail('no_documents', { where: paths.join(', ') || directory })

  const changed: string[] = []
  const findings: Diagnostic[] = []
  const [check, diff] = [given.flag('check'), given.flag('diff')]
  for (const [path, before] of texts) {
    const formatted = formatDocuments({ path, bytes: before })
    if ('findings' in formatted) findings.push(...formatted.findings)
    if ('kept' in formatted) out.message(`${path} is left as it is: ${formatted.kept}.`)
    const after = 'text' in formatted ? formatted : undefined
    if (after?.changed) changed.push(path)
    if (mode.json) {
      if (after?.changed && !check && !diff && !stdin) await writeUserFile(join(directory, path), after.text)
      continue
    }
    if (diff && after?.changed) out.line(unifiedDiff(path, workspace.text(path), after.text).trimEnd())
    else if (check && after?.changed) out.line(stdin ? (given.text('stdin-filename') ?? '-') : path)
    else if (stdin && !check && !diff) writeOut(io, after ? Buffer.from(after.text) : before)
    else if (after?.changed) await writeUserFile(join(directory, path), after.text)
  }
  const unchanged = texts.size - changed.length
  printFindings(call, findings, workspace)
  if (findings.length > 0) throw documentsFailure(findings, call)
  if (mode.json) await out.json({ changed, unchanged })
  else if (!stdin) out.hint(summaryLine(changed, texts.size, check || diff))
  return check && changed.length > 0 ? 1 : 0
}

async function open(
  call: CommandContext,
  paths: readonly string[],
): Promise<{ readonly workspace: Workspace; readonly directory: string }> {
  requireDocumentPaths(call.cwd, paths)
  const project = await openDocuments(call, paths[0] === undefined ? undefined : resolve(call.cwd, paths[0]))
  const focus = paths.map((path) => pathInProject(project, resolve(call.cwd, path)))
  const workspace = await loadDocuments(project, focus.length > 0 ? { focus } : {})
  return { workspace, directory: project.directory }
}

/** The named files, or all that hold documents. */
function textsOf(workspace: Workspace): ReadonlyMap<string, Uint8Array> {
  const { focus, read } = workspace
  const named = read.filter((path) => focus?.some((each) => path === each || isUnder(each, path)) ?? true)
  return new Map(named.map((path) => [path, workspace.bytes(path)]))
}

const summaryLine = (changed: readonly string[], all: number, wouldOnly: boolean): string => {
  const files = (count: number): string => `${count} ${count === 1 ? 'file' : 'files'}`
  if (changed.length === 0) return `${files(all)} formatted already`
  return wouldOnly
    ? `${files(changed.length)} would change; run svc fmt`
    : `formatted ${changed.length} of ${files(all)}: ${changed.join(', ')}`
}
