/** Yanks versions, so that they are no longer chosen. Source: bundles, section 4. */
import { agentIdOf } from '../../base/ids.ts'
import { fail } from '../../base/failure.ts'
import { readProperties } from './reader.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorAction } from './act.ts'
import { findAgent, findVersion } from './find.ts'

/** Characters of a reason. */
const MAX_REASON = 300

/** Control characters and line ends: a reason is one line of a list, a question and an error. */
const NOT_ONE_LINE = /[\p{Cc}\u2028\u2029]/u

const KINDS = ['Agent', 'Tool', 'Policy'] as const

/** Deletes nothing and does not change what runs or is deployed. */
export const yankVersion: OperatorAction<'POST /yank'> = async ({ services, body }) => {
  const check = readProperties(body)
  const kind =
    KINDS.find((each) => each === check.text('kind')) ?? check.wrong('/kind', 'must be Agent, Tool or Policy')!
  const id = check.required('id', check.text('id', { min: 1, max: 300 }))!
  const version = check.required('version', check.text('version', { min: 1, max: 300 }))!
  const yanked = check.required('yanked', check.boolean('yanked'))!
  const reason = check.text('reason', { min: 1, max: MAX_REASON })
  if (reason !== undefined && NOT_ONE_LINE.test(reason)) check.wrong('/reason', 'must be one line of plain text')
  if (reason !== undefined && !yanked) check.wrong('/reason', 'is for yanking, not for taking it back')
  check.done()
  const change = { id, version, yanked, ...(reason !== undefined && { reason }) }
  const digest =
    kind === 'Agent' ? await yankAgent(services, change) : await yankDocument(services, { ...change, kind })
  return { kind, id, version, digest, yanked }
}

interface YankChange {
  readonly id: string
  readonly version: string
  readonly yanked: boolean
  readonly reason?: string
}

async function yankAgent(services: ServerServices, change: YankChange): Promise<string> {
  const agent = await findAgent(services, agentIdOf(services.workspace.name, change.id))
  const version = await findVersion(services, agent, change.version)
  await services.store.setYanked(version.id, change.yanked, change.reason)
  return version.snapshot.digest
}

async function yankDocument(
  { store, workspace }: ServerServices,
  { kind, id, version, yanked, reason }: YankChange & { readonly kind: 'Tool' | 'Policy' },
): Promise<string> {
  const document = (await store.documents(workspace.id, kind, id)).find((each) => each.version === version)
  if (!document) throw fail('not_found', { what: `published ${kind} ${id}@${version}` })
  await store.setDocumentYanked(workspace.id, { kind, id, version }, yanked, reason)
  return document.digest
}
