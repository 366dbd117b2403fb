import { signalWithin } from '../../../base/signal-within.ts'
import { fail } from '../../../base/failure.ts'
import { isIdentified, type Document, type IdentifiedDocument } from '../../../documents/text/document.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import type { CommandContext } from '../../shell/command.ts'
import { readDotEnv } from '../../project/dot-env.ts'
import type { ModelEndpoint } from '../../project/model-endpoint.ts'
import { printTable } from '../../shell/screen/list.ts'
import { suggestWord } from '../../../base/text/nearest-word.ts'
import { openProject } from '../../project/project.ts'
import { splitVersion } from '../../project/reference.ts'
import { checksOfAgent, type SecretCheck, type SecretProbe, type SecretState } from '../../project/secret-checks.ts'
import type { secretsAnswer } from '../../answers/operate.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { loadDocuments } from '../../project/documents.ts'
import { type TextStyle, type Theme } from '../../../terminal/theme.ts'

/** Lists who needs which variable and whether it is set; never a value. */
export async function secretsCheck(call: CommandContext<ValueOf<typeof secretsAnswer>>): Promise<number> {
  const { given, mode, out, io } = call
  const project = await openProject(call)
  const workspace = await loadDocuments(project)
  const agents = chosen(workspace.documents, given.argument(0))
  const files = await readDotEnv(project.directory)
  const checks = agents.flatMap((agent) => checksOfAgent(agent, project.config, files, io.env))
  const items: SecretCheck[] = []
  for (const each of checks) items.push(given.flag('verify') ? await verify(call, each) : each.shown)
  const ok = items.every(({ state, usedBy }) => state === 'ok' || usedBy.length === 0)
  if (mode.json) await out.json({ ok, items })
  else {
    printTable(call, items, columns, 'No agent here needs a secret.')
    const missing = [
      ...new Set(items.filter(({ state, usedBy }) => state !== 'ok' && usedBy.length > 0).map(({ env }) => env)),
    ]
    if (missing.length > 0)
      out.hint(`fix:  ${missing.map((name) => `svc secrets set ${name}`).join(' && ')}, or run with svc dev --offline`)
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
    style: (theme, { state, usedBy }) => styleOfState(theme, state, usedBy),
  },
  { title: 'FROM', cell: ({ source, seen }) => (source === null ? '' : `${source}${seen ? ` (${seen})` : ''}`) },
  { title: 'USED BY', cell: ({ usedBy }) => usedBy.join(', ') || 'nothing' },
]

function styleOfState(theme: Theme, state: SecretState, usedBy: readonly string[]): TextStyle {
  if (state === 'ok') return theme.ok
  return usedBy.length === 0 ? theme.dim : theme.bad
}

function chosen(documents: readonly Document[], text: string | undefined): readonly IdentifiedDocument[] {
  const agents = documents.filter(isIdentified).filter(({ kind }) => kind === 'Agent')
  if (text === undefined) return agents
  const { name } = splitVersion(text)
  const found = agents.filter(({ identity }) => identity.id === name)
  if (found.length > 0) return found
  const ids = agents.map(({ identity }) => identity.id)
  throw fail('not_found', { what: `agent ${name} in this project` }, { fix: suggestWord(name, ids) })
}

/** Verifies the key by listing the models of the provider, which is free. */
async function verify({ io, signal }: CommandContext, { shown, value, model }: SecretProbe): Promise<SecretCheck> {
  if (!model || shown.state !== 'ok') return shown
  const base = model.baseUrl
  const [url, headers] = modelListOf(model.type, base, value)
  const state = await io
    .fetch(url, { headers, redirect: 'error', signal: signalWithin(PATIENCE_MS, signal) })
    .then(({ status }): SecretState => {
      if (isRejection(model.type, status)) return 'rejected'
      return status < 500 ? 'ok' : 'unreachable'
    })
    .catch((): SecretState => 'unreachable')
  return { ...shown, state }
}

function modelListOf(type: ModelEndpoint['type'], base: string, key: string): [string, Record<string, string>] {
  if (type === 'anthropic')
    return [`${base}/v1/models?limit=1`, { 'x-api-key': key, 'anthropic-version': '2023-06-01' }]
  if (type === 'gemini') return [`${base}/v1beta/models?pageSize=1`, { 'x-goog-api-key': key }]
  if (type === 'azure-openai') return [`${base.replace(/\/openai(\/v1)?$/, '')}/openai/v1/models`, { 'api-key': key }]
  return [`${base}/models`, { authorization: `Bearer ${key}` }]
}

/** Google answers a wrong key with 400. */
const isRejection = (type: ModelEndpoint['type'], status: number): boolean =>
  status === 401 || status === 403 || (type === 'gemini' && status === 400)

const PATIENCE_MS = 10_000
