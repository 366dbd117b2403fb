/** `svc deploy --sign`: by one person, or prepared by one and signed and sent by another. Source: docs/design/trust.md#deployments */
import { resolve } from 'node:path'
import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { AgentView } from '../../operations/versions.ts'
import { TrustProblem } from '../../spec/trust/trust-problem.ts'
import { readUserFile } from '../files/read-file.ts'
import { writeUserFile } from '../../base/files/write-file.ts'
import type { OperatorClient } from '../../client/operator.ts'
import { versionViews } from '../project/registry.ts'
import type { CommandContext } from '../shell/command.ts'
import { usageFailure } from '../../base/usage-failure.ts'
import { DEFAULT_KEY, openSigner } from './signer.ts'
import { coSignDeployment, signDeployment, stateDeployment } from './state-deployment.ts'

interface WantedSignature {
  readonly agent: AgentView
  readonly version: string | undefined
  readonly rollback: boolean
  readonly reason: string | undefined
  /** When it ends, null for never; undefined where nobody said so, and what somebody else signed stands. */
  readonly expires: Instant | null | undefined
}

interface SignedForServer {
  readonly version: string
  readonly envelope: string
  /** The file to which it was written, and which revision it has: nothing is deployed then. */
  readonly prepared?: { readonly file: string; readonly revision: number }
}

/** Undefined where nobody asked for a signature. */
export async function signedDeployment(
  call: CommandContext,
  operator: OperatorClient,
  { agent, version: label, rollback, reason, expires }: WantedSignature,
): Promise<SignedForServer | undefined> {
  const { given, cwd } = call
  const [statement, prepare] = [given.text('statement'), given.text('prepare')]
  const key = given.text('sign') ?? (statement === undefined && prepare === undefined ? undefined : DEFAULT_KEY)
  if (key === undefined) return undefined
  const signer = await openSigner(call, key)
  const version = label ?? (await (rollback ? earlierOf : newestOf)(operator, agent))
  const wanted = await stateDeployment(call, operator, { agent, version, rollback, reason, expires: expires ?? null })
  const envelope = statement === undefined ? await signDeployment(wanted, signer) : await addTo(statement)
  async function addTo(named: string): Promise<string> {
    const text = (await readUserFile(resolve(cwd, named), named)).toString()
    try {
      return await coSignDeployment(text, wanted, signer, expires !== undefined)
    } catch (error) {
      if (error instanceof TrustProblem) throw usageFailure(`${named} is no signed deployment: ${error.message}.`)
      throw error
    }
  }
  if (prepare === undefined) return { version, envelope }
  await writeUserFile(resolve(cwd, prepare), envelope)
  return { version, envelope, prepared: { file: prepare, revision: wanted.revision } }
}

/** As the server chooses them for a request that names no version. */
async function newestOf(operator: OperatorClient, agent: AgentView): Promise<string> {
  const newest = (await versionViews(operator, agent.name)).find(({ yanked }) => !yanked)
  if (!newest) throw fail('not_found', { what: `published version of ${agent.name}` })
  return newest.versionLabel
}

async function earlierOf(operator: OperatorClient, agent: AgentView): Promise<string> {
  const { items } = await operator.call('GET /deployments', { query: { agent: agent.agentId } })
  const usable = new Set(
    (await versionViews(operator, agent.name)).flatMap(({ versionLabel, yanked }) => (yanked ? [] : [versionLabel])),
  )
  const labels = [items[0]?.from, ...items.map(({ versionLabel }) => versionLabel)]
  const found = labels.find((each) => each && each !== agent.deployed?.versionLabel && usable.has(each))
  if (!found) throw fail('not_found', { what: `earlier deployment of ${agent.name} that is not yanked` })
  return found
}
