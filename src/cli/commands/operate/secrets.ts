import { hash } from 'node:crypto'
import { fail } from '../../../base/failure.ts'
import { isJsonObject } from '../../../base/json.ts'
import type { Document } from '../../../documents/text/document.ts'
import { segmentsOf } from '../../../documents/text/pointer.ts'
import { loadWorkspace } from '../../../documents/workspace/load.ts'
import { providerSpellings } from '../../../spec/document.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import type { CommandContext } from '../../shell/command.ts'
import { readDotEnv, type FileVariable } from '../../project/dot-env.ts'
import { printList } from '../../shell/list.ts'
import { isOffline, modelEndpoint, type ModelEndpoint } from '../../project/model-endpoint.ts'
import { nearestWord } from '../../shell/nearest.ts'
import { openProject, type Project } from '../../project/project.ts'
import { splitVersion } from '../../project/reference.ts'

type State = 'ok' | 'missing' | 'empty' | 'whitespace' | 'placeholder' | 'rejected' | 'unreachable'

interface SecretCheck {
  readonly agent: string
  readonly name: string
  readonly env: string
  readonly state: State
  /** `environment`, `.env:3`, or null. */
  readonly source: string | null
  /** `model anthropic`, `mcp orders`; empty for an unused secret, which may be missing. */
  readonly usedBy: readonly string[]
  /** Length and four digits of a digest, to distinguish two values. */
  readonly seen?: string
}

/** Never a value: who needs which variable, and whether it is there. */
export async function secretsCheck(call: CommandContext): Promise<number> {
  const { given, mode, out, io } = call
  const project = await openProject(call)
  const { include } = project.config
  const workspace = await loadWorkspace(project.directory, include ? { include } : {})
  const agents = chosen(workspace.documents, given.argument(0))
  const files = await readDotEnv(project.directory)
  const checks = agents.flatMap((agent) => checksOf(agent, project, files, io.env))
  const items: SecretCheck[] = []
  for (const each of checks) items.push(given.flag('verify') ? await verify(call, each) : each.shown)
  const ok = items.every(({ state, usedBy }) => state === 'ok' || usedBy.length === 0)
  if (mode.json) await out.json({ ok, items })
  else {
    await printList(call, { items, total: items.length }, columns, 'No agent here needs a secret.')
    const missing = [
      ...new Set(items.filter(({ state, usedBy }) => state !== 'ok' && usedBy.length > 0).map(({ env }) => env)),
    ]
    if (missing.length > 0)
      out.hint(`fix:  export ${missing.map((name) => `${name}=…`).join(' ')}, or run with svc dev --offline`)
  }
  return ok ? 0 : 1
}

const columns: readonly TableColumn<SecretCheck>[] = [
  { title: 'AGENT', cell: ({ agent }) => agent },
  { title: 'SECRET', cell: ({ name }) => name },
  { title: 'VARIABLE', cell: ({ env }) => env },
  {
    title: 'STATE',
    cell: ({ state }) => state,
    style: (theme, { state, usedBy }) => (state === 'ok' ? theme.ok : usedBy.length === 0 ? theme.dim : theme.bad),
  },
  { title: 'FROM', cell: ({ source, seen }) => (source === null ? '' : `${source}${seen ? ` (${seen})` : ''}`) },
  { title: 'USED BY', cell: ({ usedBy }) => usedBy.join(', ') || 'nothing' },
]

function chosen(documents: readonly Document[], text: string | undefined): readonly Document[] {
  const agents = documents.filter(({ kind, identity }) => kind === 'Agent' && identity)
  if (text === undefined) return agents
  const { name } = splitVersion(text)
  const found = agents.filter(({ identity }) => identity?.id === name)
  if (found.length > 0) return found
  const near = nearestWord(
    name,
    agents.map(({ identity }) => identity!.id),
  )
  throw fail('not_found', { what: `agent ${name} in this project` }, near ? { fix: `Did you mean ${near}?` } : {})
}

/** A checked secret with the data of the request that verifies it. */
interface SecretProbe {
  readonly shown: SecretCheck
  readonly value: string
  readonly model?: ModelEndpoint
}

function checksOf(
  document: Document,
  { config }: Project,
  files: ReadonlyMap<string, FileVariable>,
  env: CommandContext['io']['env'],
): readonly SecretProbe[] {
  const [provider = '', secret, ownUrl] = ['provider', 'secret', 'base_url'].map(
    (name) => document.texts(`spec.model.${name}`)[0]?.value,
  )
  const model = modelEndpoint({ provider, base_url: ownUrl }, config, env)
  const keyed = secret === undefined ? providerSpellings(provider) : [secret]
  const servers = document.at('spec.mcp_servers.*').flatMap(({ value }) => (isJsonObject(value) ? [value] : []))
  return document.texts('secrets.*.fromEnv').map(({ value: fromEnv, pointer }) => {
    const name = segmentsOf(pointer)[1] ?? ''
    const ofModel = keyed.includes(name) && !isOffline(provider, config)
    const usedBy = [
      ...(ofModel ? [`model ${provider}`] : []),
      ...servers
        .filter(({ auth }) => isJsonObject(auth) && auth['secret'] === name)
        .map(({ name: server }) => `mcp ${typeof server === 'string' ? server : '?'}`),
    ]
    const set = env[fromEnv]
    const file = files.get(fromEnv)
    const value = set ?? file?.value
    const state = stateOf(value)
    const shown: SecretCheck = {
      agent: document.identity!.id,
      name,
      env: fromEnv,
      state,
      source: set !== undefined ? 'environment' : (file?.place ?? null),
      usedBy,
      ...(value !== undefined &&
        state === 'ok' && { seen: `${value.length} chars, ${hash('sha256', value, 'hex').slice(0, 4)}` }),
    }
    return { shown, value: value ?? '', ...(ofModel && model && { model }) }
  })
}

/** Placeholders of examples. */
const PLACEHOLDER =
  /^(?:<.*>|\[.*\]|\.{3}|…|x{3,}|\*{3,}|change[-_ ]?me|todo|placeholder|secret|your[-_ ].*|(?:sk-)?(?:\.{3}|…|x{3,}))$/i

function stateOf(value: string | undefined): State {
  if (value === undefined) return 'missing'
  if (value === '') return 'empty'
  if (value.trim() !== value) return 'whitespace'
  return PLACEHOLDER.test(value) ? 'placeholder' : 'ok'
}

/** Verifies the key by listing the models of the provider, which is free. */
async function verify({ io, signal }: CommandContext, { shown, value, model }: SecretProbe): Promise<SecretCheck> {
  if (!model || shown.state !== 'ok') return shown
  const base = model.baseUrl
  const [url, headers]: [string, Record<string, string>] =
    model.type === 'anthropic'
      ? [`${base}/v1/models?limit=1`, { 'x-api-key': value, 'anthropic-version': '2023-06-01' }]
      : [`${base}/models`, { authorization: `Bearer ${value}` }]
  const state = await io
    .fetch(url, { headers, redirect: 'error', signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]) })
    .then(({ status }): State => (status === 401 || status === 403 ? 'rejected' : status < 500 ? 'ok' : 'unreachable'))
    .catch((): State => 'unreachable')
  return { ...shown, state }
}

const PATIENCE_MS = 10_000
