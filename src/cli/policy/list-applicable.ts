/** Lists the policies that apply to a tool, and the calls that a policy applies to. */
import { fail } from '../../base/failure.ts'
import { ancestorsOf } from '../../compile/ancestors.ts'
import { conditionOfEntry } from '../../policy/condition/condition.ts'
import { describeCondition } from '../../policy/condition/describe.ts'
import { entriesForCall, type PolicyEntry } from '../../spec/policy-set.ts'
import type { CompiledBundle } from '../../spec/snapshot.ts'
import { safeText } from '../../base/text/escape-text.ts'
import type { CommandContext } from '../shell/command.ts'
import type { Project } from '../project/project.ts'
import { compileBundleAt } from './bundle.ts'
import { calleeOf, policySubjectOf } from './subject.ts'
import { textBefore } from '../../base/text/text-parts.ts'
import { decisionOfEffect } from '../../authority/matrix.ts'

interface Concerned {
  readonly agent: string
  readonly tool: string
  readonly policy: string
  readonly version: string
  readonly decision: string
  readonly condition: string
  /** What attaches it: `binding`, `default`, `boundary refunds-above-limit`. */
  readonly because: readonly string[]
  readonly source: string | null
}

/** What `--json` prints of a tool, a sub-agent or a policy. */
export interface ConsideredPolicies {
  readonly ref: string
  readonly considered: readonly Concerned[]
}

/** @param reference `namespace.name` of a tool, a sub-agent or a policy @throws Failure `not_found` */
export async function explainConcerns(
  call: CommandContext<ConsideredPolicies>,
  project: Project,
  reference: string,
): Promise<void> {
  const { mode, out } = call
  const id = textBefore(reference, '@')
  const { bundle } = await compileBundleAt(call, project, project.directory)
  const all = concernsOf(bundle)
  const considered = all.filter(({ tool, policy }) => tool === id || policy === id)
  // A tool without policies is a valid answer; for an unknown name, `calleeOf` throws with a suggestion.
  const [first] = bundle.agents
  const isKnown =
    considered.length > 0 ||
    bundle.agents.some((each) => policySubjectOf(bundle, each).callees.some(({ tool }) => tool.id === id))
  if (!isKnown && first)
    calleeOf(policySubjectOf(bundle, bundle.agents.find((each) => each.id === bundle.root) ?? first), id)
  if (!isKnown) throw fail('not_found', { what: `tool or policy ${reference}` })
  if (mode.json) return await out.json({ ref: id, considered })
  if (considered.length === 0) out.line(`no policy concerns ${safeText(id)}; the side-effect class decides`)
  considered.forEach((each) => out.line(concernLine(each)))
}

/** Every policy with every call that it applies to. */
export const concernsOf = (bundle: CompiledBundle): readonly Concerned[] =>
  bundle.agents.flatMap((snapshot) => {
    const { policies: own, agents, tools } = snapshot
    const ancestors = ancestorsOf(bundle, snapshot.id).map(({ policies }) => policies)
    return [...tools, ...agents].flatMap((callee) =>
      entriesForCall(own, ancestors, callee).map(({ entry, from }) =>
        describeConcern(snapshot.id, callee.id, entry, [
          ...attachmentsOf(entry),
          ...(from === own ? [] : [`inherited from ${from.agent}`]),
        ]),
      ),
    )
  })

const attachmentsOf = ({ origin }: PolicyEntry): readonly string[] => [
  ...new Set(origin.map(({ kind, boundary }) => (boundary === undefined ? kind : `${kind} ${boundary}`))),
]

export const concernLine = ({
  agent,
  tool,
  policy,
  version,
  decision,
  condition,
  because,
  source,
}: Concerned): string =>
  safeText(
    [
      `${agent} → ${tool}`,
      `${policy}@${version}`,
      decision,
      condition,
      because.join(', '),
      ...(source === null ? [] : [source]),
    ].join('   '),
  )

function describeConcern(agent: string, tool: string, entry: PolicyEntry, because: readonly string[]): Concerned {
  const { policy, version, effect, allow, origin } = entry
  const condition = conditionOfEntry(entry)
  const list = allow && `${allow.field} not in ${allow.values.join(', ')}`
  const parts = [list, condition && describeCondition(condition)].filter((part) => part !== undefined)
  const place = origin.find(({ path }) => path !== undefined)
  return {
    agent,
    tool,
    policy,
    version,
    decision: decisionOfEffect(effect),
    condition: parts.length === 0 ? 'always' : parts.join(' and '),
    because,
    source: place ? `${place.path}${place.line === undefined ? '' : `:${place.line}`}` : null,
  }
}
