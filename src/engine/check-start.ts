/** Checks before a run starts, when nothing is stored yet. Source: docs/design/http.md#start */
import { fail } from '../base/failure.ts'
import type { SessionId } from '../base/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { pointerTo } from '../base/json/pointer.ts'
import { isExternalModel } from '../spec/external.ts'
import { describeUnpriced, isPricedIn, type Money } from '../spec/price.ts'
import type { AgentSnapshot } from '../spec/snapshot.ts'
import { describePaused, findPause } from '../spec/steer/pause.ts'
import type { AgentVersion } from '../store/version-rows.ts'
import { checkForeignValue } from '../tools/check/check.ts'
import { readPausesInForce } from './drive/pauses.ts'
import type { EngineParts, StartRequest } from './interface/engine.ts'

/** @throws Failure `agent_paused`. A paused tool or provider stops no start: the run is held where it needs it. */
export async function checkNotPaused(
  parts: Pick<EngineParts, 'store' | 'clock' | 'checkpoints'>,
  { workspaceId, snapshot }: AgentVersion,
): Promise<void> {
  const { id: agent, version } = snapshot
  const pause = findPause(await readPausesInForce(parts, workspaceId), {
    agents: [agent],
    versions: [`${agent}@${version}`],
  })
  if (pause) throw fail('agent_paused', { agent, paused: describePaused(pause) })
}

/**
 * An agent that stands for a client is run by that client's calls, and by nothing else.
 * @throws Failure `agent_external`, `agent_not_external`
 */
export function checkStarter(
  { snapshot: { id: agent, model } }: Pick<AgentVersion, 'snapshot'>,
  byClient = false,
): void {
  if (isExternalModel(model) && !byClient) throw fail('agent_external', { agent })
  if (!isExternalModel(model) && byClient) throw fail('agent_not_external', { agent })
}

/** @throws Failure `input_contract_violation` */
export async function checkInput({ id, inputContract }: AgentSnapshot, input: JsonObject): Promise<void> {
  if (inputContract === undefined) return
  const found = await checkForeignValue(inputContract, input)
  const details = found.map(({ path, message }) => ({ path: `/input${path}`, message }))
  if (details.length > 0) throw fail('input_contract_violation', { agent: id }, { details })
}

/** @throws Failure `file_not_found`, `validation_failed` */
export async function checkStartFiles(
  { store }: EngineParts,
  { workspaceId }: StartRequest,
  input: JsonObject,
): Promise<void> {
  for (const { path, filename } of fileMarksIn(input, '/input')) {
    const about = (message: string) => ({ details: [{ path: `${path}/filename`, message }] })
    if (typeof filename !== 'string')
      throw fail(
        'validation_failed',
        { what: `The body is not valid: ${path}/filename must be the leaf name of a file.` },
        about('must be the leaf name of a file'),
      )
    if (!(await store.fileByName(workspaceId, filename)))
      throw fail('file_not_found', { filename }, about('names no finalized file'))
  }
}

interface FileMark {
  readonly path: string
  readonly filename: unknown
}

/** Objects marked as files, with their JSON pointers, whether or not their file name is valid. */
function fileMarksIn(value: JsonValue, path: string): readonly FileMark[] {
  const marks: FileMark[] = []
  const keys: (string | number)[] = []
  const enter = (key: string | number, each: JsonValue): void => {
    if (typeof each !== 'object' || each === null) return
    keys.push(key)
    visit(each)
    keys.pop()
  }
  const visit = (each: JsonValue): void => {
    if (Array.isArray(each)) for (let at = 0; at < each.length; at++) enter(at, each[at]!)
    else if (!isJsonObject(each)) return
    else if (each['svcFile'] === true)
      marks.push({ path: keys.reduce<string>(pointerTo, path), filename: each['filename'] })
    else for (const key in each) enter(key, each[key]!)
  }
  visit(value)
  return marks
}

/**
 * Fails early for a missing provider or secret, for every agent whose version is already fixed.
 * @throws Failure `provider_not_configured`, `secret_not_set`, `price_unknown`
 */
export async function checkConfiguration(
  { store, providers, tools }: EngineParts,
  root: AgentVersion,
  sessionId?: SessionId,
): Promise<void> {
  const seen = new Set<string>()
  const check = async ({ snapshot, workspaceId }: AgentVersion, above: readonly Money[] = []): Promise<void> => {
    const key = JSON.stringify([snapshot.digest, ...above.map(({ currency }) => currency)])
    if (seen.has(key)) return
    seen.add(key)
    const caps = [...above, ...(snapshot.maxCost ? [snapshot.maxCost] : [])]
    for (const model of [snapshot.model, ...(snapshot.fallback ?? [])]) {
      providers.choose(snapshot, model, sessionId)
      const { price } = providers.terms(model, sessionId)
      const cap = caps.find(({ currency }) => !isPricedIn(price, currency))
      if (cap) throw fail('price_unknown', { what: describeUnpriced({ model, cap }) })
    }
    const unset = tools.findUnsetSecret(snapshot, sessionId)
    if (unset) throw fail('secret_not_set', unset)
    for (const { digest } of snapshot.agents) {
      const child = digest && (await store.versionByDigest(workspaceId, digest))
      if (child) await check(child, caps)
    }
  }
  await check(root)
}
