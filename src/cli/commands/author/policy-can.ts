/** Answers whether any call of a tool can pass its policies. Source: docs/design/prover.md#bounds-and-lists */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { findPassableCall } from '../../../authority/passable.ts'
import { readCondition, type Condition } from '../../../policy/condition/condition.ts'
import { describeCondition } from '../../../policy/condition/describe.ts'
import type { CommandContext } from '../../shell/command.ts'
import { compileBundleAt } from '../../policy/bundle.ts'
import { hypotheticalFacts } from '../../policy/hypothetical-call.ts'
import { compiledAgentOf } from '../../release/build.ts'
import { calleeOf, policySetsOf, policySubjectOf } from '../../policy/subject.ts'
import { openProject } from '../../project/project.ts'
import type { policyCanAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

export async function policyCan(call: CommandContext<ValueOf<typeof policyCanAnswer>>): Promise<number> {
  const { given, mode, out, io, cwd } = call
  const [agent, tool] = [given.required(0), given.required(1)]
  const at = resolve(cwd, agent)
  const isPath = (await stat(at).catch(() => undefined)) !== undefined
  const project = await openProject(call, isPath ? at : undefined)
  const { bundle } = await compileBundleAt(call, project, isPath ? at : project.directory)
  const subject = policySubjectOf(bundle, compiledAgentOf(bundle, isPath ? undefined : agent))
  const callee = calleeOf(subject, tool)
  const unattended = given.flag('unattended')
  const where = readWhere(given.text('where'))
  const { checkValue } = await import('../../../tools/check/check.ts')
  const answer = findPassableCall({
    sets: policySetsOf(subject),
    callee: callee.tool,
    schemas: callee.schemas,
    unattended,
    ...(where && { where }),
    factsOf: (args, context) => hypotheticalFacts({ subject, tool: callee.tool, args, context, now: io.clock.now() }),
    accepts: (args) => callee.schemas.every((schema) => checkValue(schema, args).length === 0),
  })
  if (mode.json) await out.json(answer)
  else {
    const calls = `call of ${callee.tool.id}${where ? ` with ${describeCondition(where)}` : ''}`
    const by = answer.by.length > 0 ? ` (${answer.by.join(', ')})` : ''
    if (answer.can === 'never') out.line(`never: no ${calls} passes${unattended ? ' without a person' : ''}${by}`)
    else if (answer.can === 'not_proven')
      out.line(`not proven: a ${calls} that passes was not found, nor that there is none${by}`)
    else {
      const { arguments: args, context, decision } = answer.witness!
      const contextFlag = Object.keys(context).length === 0 ? '' : ` --context '${shellQuoted(context)}'`
      out.line(`yes: ${JSON.stringify(args)} comes to ${decision}${by}`)
      out.hint(`replay:  svc policy eval --agent ${agent} --tool ${tool} --args '${shellQuoted(args)}'${contextFlag}`)
    }
  }
  const expected = given.text('expect')
  if (expected === undefined || expected === answer.can) return 0
  out.message(`expected ${expected}`)
  return 1
}

/** Escaped for single quotes of a shell. */
const shellQuoted = (value: object): string => JSON.stringify(value).replaceAll("'", String.raw`'\''`)

/** @throws Failure `usage` */
function readWhere(text: string | undefined): Condition | undefined {
  if (text === undefined) return undefined
  const { condition, problems } = readCondition({ when: text })
  if (condition) return condition
  throw usageFailure(`--where: ${problems.map(({ message }) => message)[0]}`, `--where 'args.amount > 100'`)
}
