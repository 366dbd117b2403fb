import { isAbsolute, relative, resolve } from 'node:path'
import { fail, isFailure } from '../../../base/failure.ts'
import type { Diagnostic } from '../../../documents/text/diagnostic.ts'
import type { Document } from '../../../documents/text/document.ts'
import type { FileContents } from '../../../documents/text/files.ts'
import type { ReportFormat } from '../../../documents/report/formats.ts'
import { summarizeFindings, type LintSummary } from '../../../documents/report/summary.ts'
import type { CommandContext } from '../../shell/command.ts'
import { countNoun } from '../../shell/counted.ts'
import type { VirtualDocument } from '../../lint/lint-check.ts'
import type { CheckedProject, FixedProject } from '../../../documents/lint/fix-project.ts'
import { wholeNumber } from '../../shell/numbers.ts'
import { isPolicyTest } from '../../../documents/workspace/test-file.ts'
import type { Project } from '../../project/project.ts'
import { requireDocumentPaths, openDocuments, pathInProject } from '../../project/project-path.ts'
import { stdinBytes, writeOut } from '../../files/stdin-bytes.ts'
import type { lintAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

type LintCall = CommandContext<ValueOf<typeof lintAnswer>>

export async function lint(call: LintCall): Promise<number> {
  const { given, cwd } = call
  const paths = given.rest(0)
  const readsStdin = paths.length === 1 && paths[0] === '-'
  if (readsStdin && (given.flag('watch') || given.text('changed') !== undefined))
    throw usageFailure('Standard input is read once: --watch and --changed need files.')
  if (!readsStdin) requireDocumentPaths(cwd, paths)
  const open = (): Promise<Project> =>
    openDocuments(call, paths[0] === undefined || readsStdin ? undefined : resolve(cwd, paths[0]))
  if (given.flag('watch')) return await lintOnSave(call, open)
  const project = await open()
  return await lintOnce(call, project, readsStdin ? await standardInput(call, project) : undefined)
}

/** Lints, then again after each save, until the command is stopped. */
async function lintOnSave(call: LintCall, open: () => Promise<Project>): Promise<number> {
  const last: LastOutput = {}
  const project = await open()
  let code = await lintOnce(call, project, undefined, last)
  const again = async (): Promise<void> => {
    try {
      code = await lintOnce(call, await open(), undefined, last)
    } catch (error) {
      // The project file may be invalid, or documents missing, until the next save.
      if (!isFailure(error)) throw error
      code = error.exit
      if (last.output !== error.message) call.out.message(`error[${error.code}]: ${error.message}`)
      last.output = error.message
    }
  }
  const [{ watchFiles }, { untilStopped }] = await Promise.all([
    import('../../files/watch.ts'),
    import('../../project/open-server.ts'),
  ])
  const watch = await watchFiles(project.directory, again, call.signal)
  // Files may have changed between the first run and the start of the watch.
  await again()
  await untilStopped(call.signal)
  await watch.close()
  return code
}

/** What was printed last: one save may cause several file events. */
interface LastOutput {
  output?: string
}

/** A document on standard input without a name replaces the file that holds the document of its id. */
async function standardInput({ given, cwd, io }: CommandContext, project: Project): Promise<VirtualDocument> {
  const [bytes, name] = [await stdinBytes(io), given.text('stdin-filename')]
  const path = pathInProject(project, resolve(cwd, name ?? 'stdin.yaml'))
  if (name !== undefined) return { path, bytes }
  const [{ readDocuments }, { loadDocuments }] = await Promise.all([
    import('../../../documents/workspace/read.ts'),
    import('../../project/documents.ts'),
  ])
  const { documents } = readDocuments({ path, bytes }, { named: true })
  const isMeant = ({ kind, identity }: Document): boolean =>
    documents.some((each) => each.kind === kind && each.identity !== undefined && each.identity.id === identity?.id)
  const workspace = await loadDocuments(project)
  return { path: workspace.documents.find(isMeant)?.path ?? path, bytes }
}

async function lintOnce(
  call: LintCall,
  project: Project,
  input: VirtualDocument | undefined,
  last?: LastOutput,
): Promise<number> {
  const { given, mode, out, io } = call
  const maxWarnings = wholeNumber(given.text('max-warnings'), 'max-warnings')
  const started = io.clock.monotonic()
  const result = await checkAndFix(call, project, input)
  const summary = summarizeFindings(result.findings, result.workspace)
  if (summary.files === 0) {
    if (given.text('changed') === undefined)
      throw fail('no_documents', { where: input ? 'standard input' : given.rest(0).join(', ') || project.directory })
    if (!mode.json) out.hint('no document is affected')
  }
  const isDry = given.flag('fix-dry-run')
  if (result.texts && !mode.json && (isDry || input !== undefined))
    await showFixed(call, project, input, result.texts, isDry)
  const code = summary.errors > 0 || (maxWarnings !== undefined && summary.warnings > maxWarnings) ? 1 : 0
  if (last) {
    const output = JSON.stringify([result.findings, summary])
    if (last.output === output) return code
    last.output = output
  }
  const printsDocument = input !== undefined && given.flag('fix') && !isDry
  await printFindings(call, project, result, printsDocument)
  if (!mode.json) out.hint(summaryLine(summary, io.clock.monotonic() - started, result.fixed))
  return code
}

/** The findings; with `--fix` those that are left once the fixes are written, with `--fix-dry-run` as if they were. */
async function checkAndFix(
  call: LintCall,
  project: Project,
  input: VirtualDocument | undefined,
): Promise<CheckedProject & Partial<FixedProject>> {
  const { given } = call
  const overlay = input === undefined ? {} : { [input.path]: input.bytes }
  const { checkDocuments } = await import('../../lint/lint-check.ts')
  const check = (texts: FileContents, isWritten = texts === overlay): Promise<CheckedProject> =>
    checkDocuments(call, project, input, texts, isWritten)
  const isDry = given.flag('fix-dry-run')
  if (!given.flag('fix') && !isDry) return await check(overlay)
  const { fixProject, writeTexts } = await import('../../../documents/lint/fix-project.ts')
  const fixed = await fixProject(check, overlay)
  if (isDry || input !== undefined || Object.keys(fixed.texts).length === 0) return fixed
  await writeTexts(project.directory, fixed.texts)
  // Lints again, so that findings from policy tests reflect the fixed files.
  return fixed.workspace.files.paths.some(isPolicyTest) ? { ...fixed, ...(await check(fixed.texts, true)) } : fixed
}

/** @param printsDocument true where standard output carries the fixed document, and findings go to standard error */
async function printFindings(
  { given, mode, out, io }: LintCall,
  project: Project,
  { workspace, findings }: CheckedProject,
  printsDocument: boolean,
): Promise<void> {
  const format = (mode.json ? 'json' : (given.text('format') ?? 'text')) as ReportFormat
  const color = (printsDocument ? mode.color.stderr : mode.color.stdout) > 0
  const ownLine = format === 'text' ? out.prose : out.line
  const line = printsDocument ? out.message : ownLine
  const isForGithub = given.text('format') === undefined && io.env['GITHUB_ACTIONS'] === 'true'
  // A clean run, the usual case, does not load the renderer.
  if (findings.length === 0 && format === 'text') return
  const { reportFormats } = await import('../../../documents/report/formats.ts')
  if (mode.json)
    return await out.json(JSON.parse(reportFormats.json(findings, { workspace, color })) as ValueOf<typeof lintAnswer>)
  const placed = inRepository(findings, project.directory, io.env)
  const text = reportFormats[format](OF_REPOSITORY.has(format) ? placed : findings, { workspace, color }).trimEnd()
  if (text !== '') line(text)
  if (isForGithub && findings.length > 0) line(reportFormats.github(placed).trimEnd())
}

/** Formats whose consumers resolve paths from the root of the repository. */
const OF_REPOSITORY: ReadonlySet<ReportFormat> = new Set(['github', 'gitlab', 'sarif'])

/** The findings with paths relative to the pipeline's root, where the project lies below it. */
function inRepository(
  findings: readonly Diagnostic[],
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly Diagnostic[] {
  const root = env['GITHUB_WORKSPACE'] || env['CI_PROJECT_DIR']
  const below = root ? relative(resolve(root), directory).replaceAll('\\', '/') : ''
  if (below === '' || below.startsWith('..') || isAbsolute(below)) return findings
  const placed = <T extends { readonly path: string }>(each: T): T => ({ ...each, path: `${below}/${each.path}` })
  return findings.map((each) => ({ ...placed(each), related: each.related.map(placed) }))
}

/** Prints the fixed standard input, or the changes of a dry run as a diff. */
async function showFixed(
  { out, io }: CommandContext,
  project: Project,
  input: VirtualDocument | undefined,
  texts: Readonly<Record<string, string>>,
  isDry: boolean,
): Promise<void> {
  const fixed = input && texts[input.path]
  if (input !== undefined && !isDry)
    return fixed === undefined ? writeOut(io, input.bytes) : out.line(fixed.replace(/\n$/, ''))
  const [{ unifiedDiff }, { loadWorkspace }, { decodeUtf8 }] = await Promise.all([
    import('../../../documents/fmt/diff.ts'),
    import('../../../documents/workspace/load.ts'),
    import('../../../documents/text/decode.ts'),
  ])
  const before = await loadWorkspace(project.directory, {
    focus: [],
    ...(input && { overlay: { [input.path]: input.bytes } }),
  })
  for (const [path, text] of Object.entries(texts)) {
    const { source } = decodeUtf8({ path, bytes: before.files.read(path) ?? new Uint8Array() })
    if (source === undefined || source.text === text) out.line(`${path}: written as UTF-8 without a byte order mark`)
    else out.line(unifiedDiff(path, source.text, text).trimEnd())
  }
}

function summaryLine({ errors, warnings, files, fixable }: LintSummary, ms: number, fixed = 0): string {
  const done = fixed > 0 ? `${fixed} fixed; ` : ''
  const more = fixable > 0 ? `; ${fixable} fixable with --fix` : ''
  return `${done}${countNoun(errors, 'error')}, ${countNoun(warnings, 'warning')} in ${countNoun(files, 'file')} (${Math.round(ms)} ms)${more}`
}
