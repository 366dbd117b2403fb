import { createdKey, createdOperatorKey } from '../../operations/keys.ts'
import { answerSchema } from '../../operations/operations.ts'
import {
  anyValue,
  boolean,
  either,
  extended,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
  string,
  type TypedSchema,
} from '../../operations/schema.ts'
import { documentKind } from '../../operations/shared.ts'
import { agentView, deployedVersion, publishedMember } from '../../operations/versions.ts'
import type { PlanStep } from '../release/plan.ts'
import { versionChangeSchema } from './difference.ts'

const bump = nullable(oneOf('patch', 'minor', 'major'))

const planStep: TypedSchema<PlanStep> = object({
  kind: documentKind,
  id: string,
  from: nullable(string),
  to: string,
  required: bump,
  given: bump,
  least: nullable(string),
  enough: boolean,
  taken: boolean,
})

const olderRuns = answerSchema('GET /looser-versions')

export const publishAnswer = object({
  published: list(publishedMember),
  plan: object({
    breaking: boolean,
    steps: list(planStep),
    changes: list(versionChangeSchema),
    matrix: optional(list(object({ agent: string, rows: anyValue }))),
  }),
  deployed: optional(deployedVersion),
  older: optional(olderRuns),
})

/** With what the deployment leaves running on versions that may do more. */
export const deployAnswer = extended(answerSchema('POST /deploy'), { older: optional(olderRuns) })

/** `--prepare`. */
export const preparedAnswer = object({ file: string, agent: string, version: string, revision: integer })

export const agentAnswer = extended(agentView, { run: string, curl: string })
export const createdKeyAnswer = either(createdKey, createdOperatorKey)
