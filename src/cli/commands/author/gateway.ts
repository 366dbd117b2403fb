/** `svc gateway`: svc before the MCP servers of an existing client. Source: docs/design/gate.md#clients-files */
import { realpathSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileFailure } from '../../../base/files/file-error.ts'
import { readBoundedText } from '../../../base/files/read-bounded.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { gatewayListAnswer, unwrapAnswer, wrapAnswer } from '../../answers/gateway.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import { readWrappedState } from '../../gateway/edit-client-file.ts'
import { findKeptFile, forgetFile, keptPathOf, listKeptFiles, type KeptFile } from '../../gateway/kept-file.ts'
import { planWrap, serversToWrap, type WrapPlan } from '../../gateway/plan-wrap.ts'
import { writeWrap } from '../../gateway/write-wrap.ts'
import {
  concernsAuthority,
  countActions,
  EXIT_AUTHORITY,
  printImportRows,
  printLosses,
  printQuestions,
} from '../../../import/print-import.ts'
import { readClientFile, type ClientFile } from '../../../import/mcp/client-file.ts'
import { listServerTools } from '../../../import/mcp/list-server-tools.ts'
import { readDotEnv } from '../../project/dot-env.ts'
import { openProject, type Project } from '../../project/project.ts'
import type { CommandContext } from '../../shell/command.ts'
import { confirmLoss } from '../../shell/prompts/confirm.ts'
import { packageVersion } from '../../shell/version.ts'
import { withSpinner } from '../../shell/screen/spinner.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { refuseToStart } from './import-mcp.ts'

type WrapCall = CommandContext<ValueOf<typeof wrapAnswer>>

export async function gatewayWrap(call: WrapCall): Promise<number | void> {
  const { given, mode, out, globals } = call
  const project = await openProject(call)
  const opened = openClientFile(call, project)
  const entries = given.list('entry')
  const client = readClientFile(textOf(opened.original, opened.name), opened.file, opened.name, project.directory)
  const chosen = serversToWrap(client, entries).filter(({ stays }) => stays === undefined)
  refuseToStart(
    chosen.map(({ server }) => server),
    opened.name,
    given.flag('run'),
  )
  checkNamespaceIsFree(project, opened, given.text('namespace') ?? client.format.name)
  const fromFiles = [...(await readDotEnv(project.directory))].map(([name, { value }]) => [name, value] as const)
  const environment = {
    env: { ...Object.fromEntries(fromFiles), ...call.io.env },
    directory: project.directory,
    allowedHosts: project.config.network?.allowed_hosts ?? [],
    version: packageVersion,
  }
  const wrap = await planWrap({
    client,
    file: opened.file,
    name: opened.name,
    directory: project.directory,
    namespace: given.text('namespace'),
    entries,
    url: globals.url,
    list: (server) =>
      withSpinner(call, `asking MCP server "${server.name}" for its tools`, () => listServerTools(server, environment)),
  })
  if (!mode.json) showPlan(call, project, client, wrap)
  if (!(await confirmLoss(call, `Rewrite ${opened.name}?`))) throw usageFailure('Nothing was written.')
  const kept: KeptFile = {
    file: opened.file,
    agent: wrap.agent,
    gate: wrap.gate,
    original: opened.original,
    wrapped: wrap.text,
  }
  const written = await writeWrap(call, project, wrap, kept)
  const { plan } = wrap
  const ending = concernsAuthority(plan.losses) ? EXIT_AUTHORITY : 0
  if (mode.json) {
    await out.json({
      file: opened.file,
      agent: wrap.agent,
      entry: wrap.gate,
      servers: wrap.servers.map(({ server, tools, stays }) => ({ name: server.name, tools, stays: stays ?? null })),
      documents: written.files.map(({ id, key, path, action }) => ({ id, source: key, path, action })),
      lost: plan.losses,
      questions: written.questions,
      variables: plan.variables,
      kept: keptPathOf(project.dataDirectory, opened.file),
    })
    return ending
  }
  out.prose(`${opened.name} leads to ${wrap.agent} now: ${countActions(written.files)}`)
  printLosses(plan.losses, out.line)
  printQuestions(written.questions, out.line)
  if (written.unset.length > 0) out.line(`set where the server runs: ${written.unset.join(', ')}`)
  if (!written.isPinned) out.hint(`Pin what the servers say: svc compile ${written.agentPath} --mcp`)
  out.hint(
    `next:  ${written.isAlone ? 'svc dev' : `svc publish ${written.agentPath} --deploy`}, and restart the client`,
  )
  out.hint('A person approves each call until its tool has a class: svc lint names those that have none.')
  return ending
}

export async function gatewayUnwrap(call: CommandContext<ValueOf<typeof unwrapAnswer>>): Promise<void> {
  const { mode, out } = call
  const project = await openProject(call)
  const { file, name, kept, state } = openClientFile(call, project)
  if (!kept)
    throw usageFailure(
      `No original of ${name} is kept in ${join(project.dataDirectory, 'gateway')}.`,
      'svc gateway status lists those that are; another project needs -C DIR.',
    )
  if (state.at !== 'plain') {
    const what =
      state.at === 'wrapped' ? `Restore ${name} as it was?` : `Restore the servers of ${name}, and keep your edits?`
    if (!(await confirmLoss(call, what))) throw usageFailure('Nothing was written.')
    await writeUserFile(file, state.original)
  }
  // Behind the file: cut off between the two, the next time finds a file that is restored.
  forgetFile(project.dataDirectory, file)
  if (mode.json) return await out.json({ file, agent: kept.agent, state: state.at })
  const done = {
    wrapped: `${name} is what it was, to the byte (${kept.original.length} bytes).`,
    edited: `${name} has its servers again, and your edits.`,
    plain: `${name} does not lead to svc: nothing was written.`,
  }
  out.prose(done[state.at])
  out.hint(`The documents of ${kept.agent} stay, and so does what svc.config.yaml and .env have of it.`)
}

export async function gatewayStatus(call: CommandContext<ValueOf<typeof gatewayListAnswer>>): Promise<void> {
  const { mode, out, cwd } = call
  const project = await openProject(call)
  const items = listKeptFiles(project.dataDirectory).map((kept) => ({
    file: kept.file,
    agent: kept.agent,
    state: stateOf(kept, project),
    kept: keptPathOf(project.dataDirectory, kept.file),
  }))
  if (mode.json) return await out.json({ items, total: items.length })
  if (items.length === 0) return out.prose('svc stands before no client here: svc gateway wrap .mcp.json')
  printImportRows(
    items.map(({ file, agent, state }) => [relative(cwd, file) || file, agent, STATES[state]]),
    out.line,
  )
}

type KeptState = 'wrapped' | 'edited' | 'plain' | 'missing' | 'unreadable'

const STATES: Readonly<Record<KeptState, string>> = {
  wrapped: 'leads to svc',
  edited: 'leads to svc, and was edited since',
  plain: 'does not lead to svc: svc gateway wrap does it again, unwrap forgets it',
  missing: 'is not there; its original is kept',
  unreadable: 'cannot be read, or contradicts its original: svc gateway unwrap says where',
}

function stateOf(kept: KeptFile, project: Project): KeptState {
  const bytes = readBytes(kept.file)
  if (!bytes) return 'missing'
  try {
    return readWrappedState(bytes, kept, memberOf(kept, project), kept.file).at
  } catch {
    return 'unreadable'
  }
}

interface OpenedFile {
  /** Absolute, without links. */
  readonly file: string
  /** As the person gave it. */
  readonly name: string
  readonly kept: KeptFile | undefined
  readonly state: { readonly at: 'wrapped' | 'edited'; readonly original: Uint8Array } | { readonly at: 'plain' }
  /** What the file is without svc. */
  readonly original: Uint8Array
}

/** @throws Failure `usage`, `file_missing`, `file_unusable` */
function openClientFile({ given, cwd }: Pick<CommandContext, 'given' | 'cwd'>, project: Project): OpenedFile {
  const name = given.argument(0)!
  const path = resolve(cwd, name)
  let file: string
  let current: Uint8Array
  try {
    file = realpathSync(path)
    current = Buffer.from(readBoundedText(file))
  } catch (error) {
    throw fileFailure(error, { path, doing: 'read' }) ?? error
  }
  const kept = findKeptFile(project.dataDirectory, file)
  const state = kept ? readWrappedState(current, kept, memberOf(kept, project), name) : { at: 'plain' as const }
  return { file, name, kept, state, original: state.at === 'plain' ? current : state.original }
}

const memberOf = (kept: KeptFile, { directory }: Project): string =>
  readClientFile(Buffer.from(kept.original).toString('utf8'), kept.file, kept.file, directory).format.member

function textOf(bytes: Uint8Array, name: string): string {
  const text = Buffer.from(bytes).toString('utf8')
  if (text.includes('\ufffd')) throw usageFailure(`${name} is not UTF-8, or holds U+FFFD.`, 'Save it as UTF-8.')
  return text
}

const readBytes = (file: string): Uint8Array | undefined => {
  try {
    return Buffer.from(readBoundedText(file))
  } catch {
    return undefined
  }
}

/** Two clients of one namespace would overwrite each other's documents. @throws Failure `usage` */
function checkNamespaceIsFree(project: Project, { file, name }: OpenedFile, namespace: string): void {
  const other = listKeptFiles(project.dataDirectory).find(
    (kept) => kept.file !== file && kept.agent.startsWith(`${namespace}.`),
  )
  if (other)
    throw usageFailure(
      `${namespace}.* stands for ${other.file} already.`,
      `Give ${name} a namespace of its own: --namespace NAME`,
    )
}

function showPlan({ out }: WrapCall, project: Project, { format }: ClientFile, wrap: WrapPlan): void {
  const { servers, gate, leadsTo, agent, plan } = wrap
  const count = (kind: string): number => plan.files.filter((each) => each.kind === kind).length
  const rows = servers.map(({ server, tools, stays }) => {
    const where =
      server.url === undefined ? (server.command?.[0] ?? '') : new URL(server.url, 'https://absent.invalid').origin
    return stays === undefined
      ? [`- ${server.name}`, where, `${tools} tool${tools === 1 ? '' : 's'}, through svc`]
      : [`  ${server.name}`, where, `stays: ${stays}`]
  })
  out.line(`${format.member}:`)
  printImportRows([...rows, [`+ ${gate}`, 'svc', leadsTo]], out.line)
  out.line(
    `writes ${agent} with ${count('Tool')} tools and a policy that asks before each, svc.config.yaml, and svc.lock`,
  )
  const names = [...new Set(plan.values.map(([variable]) => variable))]
  if (names.length > 0) out.line(`copies the values of ${names.join(', ')} to .env, which git ignores`)
  out.line(`keeps the original in ${relative(project.directory, join(project.dataDirectory, 'gateway'))}`)
}
