/** Decides one hypothetical call with the evaluator of the engine. Source: docs/design/policies.md#replay */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type InvalidPlace } from '../../../base/failure.ts'
import { isJsonObject, type JsonValue } from '../../../base/json/json.ts'
import { explainDecision } from '../../../policy/explain/explain.ts'
import { createTheme } from '../../../terminal/theme.ts'
import { pathOfAgent } from '../../project/agent-path.ts'
import type { CommandContext } from '../../shell/command.ts'
import { readJsonOption } from '../../runs/json-option.ts'
import { compileBundleAt } from '../../policy/bundle.ts'
import { placesOf, type LeafPlaces } from '../../policy/places.ts'
import { hypotheticalFacts } from '../../policy/hypothetical-call.ts'
import { compiledAgentOf } from '../../release/build.ts'
import {
  calleeOf,
  policiesAlone,
  policyDocuments,
  policySetsOf,
  policySubjectOf,
  withPolicies,
  type EvalCallee,
  type EvalSubject,
} from '../../policy/subject.ts'
import { decisionLine, explanationLines, decisionJson } from '../../policy/print-decision.ts'
import { openProject } from '../../project/project.ts'
import type { policyEvalAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

export async function policyEval(call: CommandContext<ValueOf<typeof policyEvalAnswer>>): Promise<number> {
  const { given, mode, out, io } = call
  const [tool, expected] = [given.text('tool'), given.text('expect')]
  if (tool === undefined) throw usageFailure('Name the call to decide.', '--tool ID --args JSON')
  const args = await readJsonOption(call, given.text('args') ?? '{}', '--args')
  const context = await readJsonOption(call, given.text('context') ?? '{}', '--context')
  if (!isJsonObject(context)) throw usageFailure('--context takes an object.')
  const { subject, places } = await subjectFor(call, tool)
  const callee = calleeOf(subject, tool)
  const facts = hypotheticalFacts({ subject, tool: callee.tool, args, context, now: io.clock.now() })
  const explanation = explainDecision(policySetsOf(subject), callee.tool.wire_name, facts)
  const invalid = await problemsOf(args, callee)
  if (mode.json) await out.json({ ...decisionJson(explanation, places), invalid })
  else {
    out.line(decisionLine(explanation))
    if (given.flag('explain'))
      explanationLines(explanation, places, createTheme(mode.color.stdout)).forEach((line) => out.line(line))
    if (invalid.length > 0)
      out.message(`${tool} does not take these arguments; a run refuses the call before any policy:`)
    for (const { path, message } of invalid) out.message(`  ${path === '' ? 'the arguments' : path}: ${message}`)
  }
  const { decision } = explanation.decision
  if (expected === undefined || expected === decision) return 0
  out.message(`expected ${expected}`)
  return 1
}

/** Why a run would refuse the arguments before it evaluates policies. Source: docs/design/policies.md#when-a-call-is-decided */
async function problemsOf(args: JsonValue, { schemas }: EvalCallee): Promise<readonly InvalidPlace[]> {
  if (!isJsonObject(args)) return [{ path: '', message: 'must be a JSON object' }]
  const { checkValue } = await import('../../../tools/check/check.ts')
  return schemas.flatMap((schema) => checkValue(schema, args))
}

/** The agent's policies, with those of `--policy` replaced or added; without an agent, only those of `--policy`. */
async function subjectFor(
  call: CommandContext,
  tool: string,
): Promise<{ readonly subject: EvalSubject; readonly places: LeafPlaces }> {
  const { given, cwd } = call
  const [agent, policies] = [given.text('agent'), given.list('policy')]
  const path = agent !== undefined && (await exists(resolve(cwd, agent))) ? resolve(cwd, agent) : undefined
  const project = await openProject(call, path ?? (policies[0] === undefined ? undefined : resolve(cwd, policies[0])))
  const more = policies.length > 0 ? await policyDocuments(project, policies, cwd) : undefined
  if (agent === undefined && more)
    return { subject: policiesAlone(more.workspace, more.documents, [tool]), places: placesOf(more.documents) }
  const where = path ?? (await pathOfAgent(project, agent, cwd))
  const { bundle, documents } = await compileBundleAt(call, project, where)
  const subject = policySubjectOf(bundle, compiledAgentOf(bundle, path === undefined ? agent : undefined))
  if (!more) return { subject, places: placesOf(documents) }
  return {
    subject: withPolicies(subject, more.workspace, more.documents),
    places: placesOf([...more.documents, ...documents]),
  }
}

const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined)) !== undefined
