import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fail } from '../../../base/failure.ts'
import { makeDirectory } from '../../../base/files/make-directory.ts'
import { ancestorsOf } from '../../../compile/ancestors.ts'
import { authorityMatrix } from '../../../authority/matrix.ts'
import type { AuthorityRow } from '../../../operations/versions.ts'
import { summarizeCompile } from '../../../compile/summary.ts'
import type { CompiledBundle, AgentSnapshot } from '../../../spec/snapshot.ts'
import { createAskMcp, withMcpSpinner } from '../../release/ask-mcp.ts'
import { buildWithRegistry } from '../../release/build.ts'
import type { CommandContext } from '../../shell/command.ts'
import { documentsFailure, printFindings } from '../../release/findings.ts'
import { answerScreen } from '../../shell/screen/list.ts'
import { checkDrift, saveLock, ABOUT_LOCK } from '../../release/lock-file.ts'
import { matrixLines } from '../../release/matrix-lines.ts'
import { suggestWord } from '../../../base/text/nearest-word.ts'
import { concernLine, concernsOf } from '../../policy/list-applicable.ts'
import { openProject, type Project } from '../../project/project.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import type { compileAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

export async function compileCommand(call: CommandContext<ValueOf<typeof compileAnswer>>): Promise<void> {
  const { given, mode, out, cwd } = call
  const named = given.argument(0)
  const project = await openProject(call, named === undefined ? undefined : resolve(cwd, named))
  const path = named === undefined ? project.directory : resolve(cwd, named)
  const update = given.text('update')
  const built = await compileHere(call, project, path, update)
  const { workspace, findings, compiled } = built
  // Skips warnings about files that this command writes, and about what it prints in more detail below.
  printFindings(call, compiled?.bundle ? findings.filter(({ rule }) => !ABOUT_LOCK.has(rule)) : findings, workspace)
  if (!compiled?.bundle || !compiled.lock) throw documentsFailure(findings, call)
  const { bundle, lock, locked } = compiled
  if (update !== undefined && !locked?.members.some(({ id, origin }) => id === update && origin === 'registry'))
    throw usageFailure(`svc.lock pins no published member "${update}".`)
  if (given.flag('check')) checkDrift(built, cwd)
  else if (!onlyAsks(call)) await saveLock(built, lock)
  const directory = given.text('out')
  if (directory !== undefined) await writeSnapshots(resolve(cwd, directory), bundle)
  const summary = summarizeCompile(bundle, workspace)
  const boundary = given.text('explain')
  const explained = boundary === undefined ? undefined : standFor(boundary, bundle)
  const rowsOf = (agent: AgentSnapshot): readonly AuthorityRow[] =>
    authorityMatrix(agent, ancestorsOf(bundle, agent.id))
  if (mode.json)
    return await out.json({
      ...summary,
      ...(explained && { explained }),
      ...(given.flag('matrix') && { matrix: bundle.agents.map((agent) => ({ agent: agent.id, rows: rowsOf(agent) })) }),
    })
  if (given.flag('matrix')) {
    const screen = answerScreen(call)
    for (const agent of bundle.agents)
      matrixLines(screen, `${agent.id}@${agent.version}`, rowsOf(agent)).forEach(out.line)
  }
  explained?.forEach((each) => out.line(concernLine(each)))
  const { boundaries, policies } = summary
  out.message(
    `${count(boundaries.length, 'boundary', 'boundaries')} → ${count(policies.length, 'policy', 'policies')}, digest ${bundle.closureDigest.slice(0, 15)}…`,
  )
}

/** True where the command only prints. */
const onlyAsks = ({ given }: CommandContext): boolean =>
  (given.flag('matrix') || given.text('explain') !== undefined) &&
  !given.flag('mcp') &&
  given.text('update') === undefined &&
  given.text('out') === undefined

/** The policies of a boundary, with each call that they apply to. @throws Failure `not_found` */
function standFor(boundary: string, bundle: CompiledBundle) {
  const declared = [...new Set(bundle.agents.flatMap(({ boundaries }) => boundaries))]
  const stands = [`boundary ${boundary}`, `synthetic ${boundary}`]
  if (declared.includes(boundary))
    return concernsOf(bundle).filter(({ because }) => because.some((each) => stands.includes(each)))
  throw fail('not_found', { what: `authority boundary ${boundary}` }, { fix: suggestWord(boundary, declared) })
}

/** Queries published documents only where a registry exists. */
async function compileHere(call: CommandContext, project: Project, path: string, update: string | undefined) {
  const options = {
    project,
    path,
    strict: call.given.flag('strict'),
    ...(call.given.flag('mcp') && { askMcp: withMcpSpinner(call, await createAskMcp(call, project)) }),
    ...(update !== undefined && { update }),
  }
  return await buildWithRegistry(call, options)
}

/** Creates the directory, but none above it, so that a mistyped path is an error, as in every command that writes a file. */
async function writeSnapshots(directory: string, bundle: CompiledBundle): Promise<void> {
  const above = dirname(directory)
  if (!existsSync(above)) throw fail('file_missing', { path: above, doing: 'written to' })
  makeDirectory(directory)
  for (const agent of bundle.agents)
    await writeUserFile(join(directory, `${agent.id}.json`), `${JSON.stringify(agent, null, 2)}\n`)
}

const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`
