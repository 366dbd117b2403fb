/**
 * Records at the start of a server what its configuration changed since the last start: who edits the file leaves no other trace here.
 * Source: docs/design/audit.md#acts
 */
import { digestOfJson } from '../../base/digest.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { toJson } from '../../base/json/typed-json.ts'
import type { ProjectConfig } from '../../spec/project/config.ts'
import type { ServerServices } from '../runtime/services.ts'
import { describeServerAct } from '../runtime/describe-act.ts'

/** Settings that change what agents, tools and people may do, what is kept and who is told. */
const RECORDED = [
  'audit',
  'providers',
  'tools',
  'mcp_servers',
  'guardrails',
  'limits',
  'concurrency',
  'plan',
  'retention',
  'network',
  'storage',
  'console',
  'sign_in',
  'doors',
  'notify',
] as const satisfies readonly (keyof ProjectConfig)[]

export async function recordConfiguration(services: ServerServices): Promise<void> {
  const { store, workspace, config } = services
  const now = digestsOf(config)
  const page = { skip: 0, take: 1 }
  const [last] = (await store.acts({ workspaceId: workspace.id, kinds: ['server.configured'] }, page)).items
  const known = (last?.content?.after ?? {}) as KnownSettings
  const names = RECORDED.filter((name) => known.digests?.[name] !== now[name])
  if (last && names.length === 0) return
  const settings = toJson(Object.fromEntries(names.map((name) => [name, config[name] ?? null])))
  const before = last ? Object.fromEntries(names.map((name) => [name, known.digests?.[name] ?? null])) : null
  await store.addAct(
    describeServerAct(services, 'server.configured', {
      subject: last ? `other settings: ${names.join(', ')}` : 'its settings, for the first time',
      before,
      after: { digests: now, settings: JSON.stringify(settings).length <= MAX_SHOWN ? settings : null },
    }),
  )
}

/** Longer settings are named by their digests, which the next start compares. */
const MAX_SHOWN = 2000

interface KnownSettings {
  readonly digests?: Readonly<Record<string, string>>
}

const digestsOf = (config: ProjectConfig): JsonObject =>
  Object.fromEntries(RECORDED.map((name) => [name, digestOfJson(config[name] ?? null)]))
