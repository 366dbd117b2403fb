/** What was published before, as lint and compile ask for it, answered by the operator application. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { PublishedLookup } from '../../compile/state/published.ts'
import { nothingPublished } from '../../compile/state/published.ts'
import type { JsonObject } from '../../base/json.ts'
import type { PublishedRegistry, ServerFacts } from '../../documents/facts/rule.ts'
import type { VersionView } from '../../spec/operator.ts'
import type { CommandContext } from '../shell/command.ts'
import type { OperatorClient } from './operator.ts'
import type { Project } from './project.ts'
import { RemoteError } from '../shell/remote.ts'

/** True where anything may have been published: a project that never was asks nobody. */
export const hasRegistry = (project: Project): boolean =>
  project.target?.host !== undefined || existsSync(join(project.dataDirectory, 'data.db'))

export function lookupOf(operator: OperatorClient | undefined): PublishedLookup {
  if (!operator) return nothingPublished
  const documents = async (kind: 'Tool' | 'Policy', id: string) =>
    (await operator.call('GET /documents', { query: { kind, id } })).items
  return {
    agent: (id, version) => orNothing(operator.call('GET /snapshot', { query: { agent: id, version } })),
    tools: (id) => documents('Tool', id),
    policies: (id) => documents('Policy', id),
  }
}

type RegistryKind = Parameters<PublishedRegistry['versions']>[0]

/** A registry that answers what is known so far and notes what it was asked in vain, so that it can be fetched. */
export interface RecordingRegistry extends PublishedRegistry {
  /** Fetches what was asked for. False when nothing new came. */
  fetch(operator: OperatorClient): Promise<boolean>
  readonly wants: boolean
}

/** @param contents true to compare documents with what was published, beside their versions */
export function createNotebook(contents = false): RecordingRegistry {
  const known = new Map<string, readonly string[]>()
  const documents = new Map<string, JsonObject>()
  const asked = new Map<string, readonly [RegistryKind, string]>()
  const yanked = new Set<string>()
  return {
    ...(contents && {
      document(kind, id, version) {
        if (!known.has(`${kind} ${id}`)) asked.set(`${kind} ${id}`, [kind, id])
        return documents.get(`${kind} ${id}@${version}`)
      },
    }),
    yanked(kind, id, version) {
      if (!known.has(`${kind} ${id}`)) asked.set(`${kind} ${id}`, [kind, id])
      return yanked.has(`${kind} ${id}@${version}`)
    },
    versions(kind, id) {
      const found = known.get(`${kind} ${id}`)
      if (!found) asked.set(`${kind} ${id}`, [kind, id])
      return found ?? []
    },
    get wants() {
      return asked.size > 0
    },
    async fetch(operator) {
      let news = false
      for (const [key, [kind, id]] of asked) {
        const found = await published(operator, kind, id)
        news ||= found.length > 0
        known.set(
          key,
          // What a lock pins may be yanked: its documents still satisfy.
          found.filter((each) => kind !== 'Agent' || each.yanked !== true).map(({ version }) => version),
        )
        for (const each of found) if (each.yanked) yanked.add(`${key}@${each.version}`)
        for (const { version, document } of found) if (document) documents.set(`${key}@${version}`, document)
      }
      asked.clear()
      return news
    },
  }
}

interface FoundVersion {
  readonly version: string
  readonly document?: JsonObject
  readonly yanked?: boolean
}

async function published(operator: OperatorClient, kind: RegistryKind, id: string): Promise<readonly FoundVersion[]> {
  if (kind !== 'Agent') return (await operator.call('GET /documents', { query: { kind, id } })).items
  const views = await versionViews(operator, id)
  return views.map(({ versionLabel, yanked }) => ({ version: versionLabel, yanked }))
}

/**
 * True where the command was told which server is meant. Whoever else has keys and triggers in a data directory of his own would
 * be told other things of the same files than his colleagues.
 */
export const isServerNamed = ({ globals, io }: Pick<CommandContext, 'globals' | 'io'>, { target }: Project): boolean =>
  (globals.data ?? io.env['SVC_DATA'] ?? target?.host) !== undefined

/** What lint asks about the server: who can approve, and whose timeline is hidden. */
export async function serverFacts(operator: OperatorClient): Promise<ServerFacts> {
  const [keys, triggers] = [await operator.call('GET /keys', {}), await operator.call('GET /triggers', {})]
  const valid = keys.items.filter(({ revokedAt }) => revokedAt === null)
  const hidden = triggers.items.filter(
    ({ type, active, exposeTimeline }) => type === 'api' && active && !exposeTimeline,
  )
  return {
    // Whoever opens the channel is one more; two credentials of one person are one.
    approvers: 1 + new Set(valid.map((key) => ('email' in key ? key.email : key.keyId))).size,
    hidden: Object.fromEntries(hidden.map(({ agent, name }) => [agent, name])),
  }
}

/** Versions of an agent, newest first; empty for one that was never published. */
export const versionViews = async (operator: OperatorClient, agent: string): Promise<readonly VersionView[]> =>
  (await orNothing(operator.call('GET /versions', { query: { agent } })))?.items ?? []

async function orNothing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof RemoteError && error.status === 404) return undefined
    throw error
  }
}
