/** Published versions for lint and compile, read from the operator application. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { nothingPublished, type PublishedLookup } from '../../compile/state/published.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { registryQuestions, type RegistryQuestion } from '../../documents/facts/registry-questions.ts'
import type { PublishedRegistry, ServerFacts, YankMark } from '../../documents/facts/rule.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { VersionView } from '../../operations/versions.ts'
import type { CommandContext } from '../shell/command.ts'
import type { OperatorClient } from '../../client/operator.ts'
import type { Project } from './project.ts'
import { RemoteError } from '../../client/remote-error.ts'

/** True where something may have been published, so that other projects need no server. */
export const hasRegistry = ({ target, store, dataDirectory }: Project): boolean =>
  target?.host !== undefined || store !== undefined || existsSync(join(dataDirectory, 'data.db'))

export function lookupOf(operator: OperatorClient | undefined): PublishedLookup {
  if (!operator) return nothingPublished
  const documents = async (kind: 'Tool' | 'Policy', id: string) =>
    (await operator.call('GET /documents', { query: { kind, id } })).items
  return {
    agent: (id, version) => undefinedIfMissing(operator.call('GET /snapshot', { query: { agent: id, version } })),
    tools: (id) => documents('Tool', id),
    policies: (id) => documents('Policy', id),
  }
}

/** A registry that answers from what was fetched. */
export interface FetchedRegistry extends PublishedRegistry {
  /** Names that the rules may look up and that were never fetched. */
  unknown(workspace: Workspace): readonly RegistryQuestion[]
  /** Fetches these names, each once. */
  fetch(operator: OperatorClient, names: readonly RegistryQuestion[]): Promise<void>
}

/** @param contents true to compare documents with what was published, beside their versions */
export function createFetchedRegistry(contents = false): FetchedRegistry {
  const known = new Map<string, readonly string[]>()
  const documents = new Map<string, JsonObject>()
  const yanked = new Map<string, YankMark>()
  return {
    ...(contents && { document: (kind, id, version) => documents.get(`${kind} ${id}@${version}`) }),
    yanked: (kind, id, version) => yanked.get(`${kind} ${id}@${version}`),
    versions: (kind, id) => known.get(`${kind} ${id}`) ?? [],
    unknown: (workspace) =>
      registryQuestions(workspace, contents).filter(({ kind, id }) => !known.has(`${kind} ${id}`)),
    async fetch(operator, names) {
      for (const { kind, id } of names) {
        const key = `${kind} ${id}`
        const found = await published(operator, kind, id)
        known.set(
          key,
          // A lock may pin yanked documents; they still satisfy it.
          found.filter((each) => kind !== 'Agent' || each.yanked !== true).map(({ version }) => version),
        )
        for (const { version, yanked: isYanked, yankReason: reason } of found)
          if (isYanked) yanked.set(`${key}@${version}`, reason === undefined ? {} : { reason })
        for (const { version, document } of found) if (document) documents.set(`${key}@${version}`, document)
      }
    },
  }
}

interface FoundVersion {
  readonly version: string
  readonly document?: JsonObject
  readonly yanked?: boolean
  readonly yankReason?: string
}

async function published(
  operator: OperatorClient,
  kind: RegistryQuestion['kind'],
  id: string,
): Promise<readonly FoundVersion[]> {
  if (kind !== 'Agent') return (await operator.call('GET /documents', { query: { kind, id } })).items
  const views = await versionViews(operator, id)
  return views.map(({ versionLabel, ...view }) => ({ ...view, version: versionLabel }))
}

/**
 * True where a server was named explicitly. Facts of a developer's own data directory (keys, triggers) must not change what
 * lint says about shared files.
 */
export const isServerNamed = ({ globals, io }: Pick<CommandContext, 'globals' | 'io'>, { target }: Project): boolean =>
  (globals.data ?? io.env['SVC_DATA'] ?? target?.host) !== undefined

/** Facts of the server for lint: how many people can approve, and which agents have a trigger whose keys approve but see no timeline. */
export async function serverFacts(operator: OperatorClient): Promise<ServerFacts> {
  const [keys, triggers] = [await operator.call('GET /keys', {}), await operator.call('GET /triggers', {})]
  const valid = keys.items.filter(({ revokedAt }) => revokedAt === null)
  const hidden = triggers.items.filter(
    ({ type, active, exposeTimeline, allowApprovals }) => type === 'api' && active && allowApprovals && !exposeTimeline,
  )
  return {
    // The local operator is one approver; two credentials of one person count once.
    approvers: 1 + new Set(valid.map((key) => ('email' in key ? key.email : key.keyId))).size,
    hiddenTimelines: Object.fromEntries(hidden.map(({ agent, name }) => [agent, name])),
  }
}

/** Versions of an agent, newest first; empty for one that was never published. */
export const versionViews = async (operator: OperatorClient, agent: string): Promise<readonly VersionView[]> =>
  (await undefinedIfMissing(operator.call('GET /versions', { query: { agent } })))?.items ?? []

async function undefinedIfMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof RemoteError && error.status === 404) return undefined
    throw error
  }
}
