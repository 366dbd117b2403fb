/** The differences between a dry fork and the run that it repeats. */
import type { DryDifference } from '../../operations/steering.ts'
import { sameCallKey, type RecordedCall } from './recording.ts'

/** Calls of both sides after the fork, matched by name and arguments; surplus calls of either side are differences. */
export function compareCalls(was: readonly RecordedCall[], would: readonly RecordedCall[]): readonly DryDifference[] {
  const left = new Map<string, RecordedCall[]>()
  for (const call of was) left.set(sameCallKey(call), [...(left.get(sameCallKey(call)) ?? []), call])
  const differences = would.flatMap((call): DryDifference[] => {
    const before = left.get(sameCallKey(call))?.shift()
    const about = { tool: call.name, arguments: call.arguments }
    if (!before) return [{ what: 'called', ...about, ...(call.decision !== undefined && { would: call.decision }) }]
    if (before.decision === call.decision) return []
    return [{ what: 'decided', ...about, was: before.decision ?? 'none', would: call.decision ?? 'none' }]
  })
  const missing = [...left.values()].flat().map(({ name, arguments: given, decision }): DryDifference => ({
    what: 'not_called',
    tool: name,
    arguments: given,
    ...(decision !== undefined && { was: decision }),
  }))
  return [...differences, ...missing]
}
