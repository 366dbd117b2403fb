/** The document of a policy as its author wrote it: what decided is marked, with the values that it saw. */
import { useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import type { ExplainedNode, ExplainedPolicy, WrittenPolicy } from '../../spec/explanation.ts'
import type { View } from '../parts/view.ts'
import { TRUTHS } from './truth.ts'

/** Lines around what is marked. */
const AROUND = 2

interface LineMark {
  readonly truth: 'true' | 'false' | 'unknown'
  /** The comparison with its values; on the last line of a comparison. */
  readonly seen?: string
}

export function WrittenPolicyView({
  written,
  policy,
}: {
  readonly written: WrittenPolicy
  /** What the policy said about the call. */
  readonly policy: ExplainedPolicy
}): View {
  const [isWhole, setWhole] = useState(false)
  const marks = marksOf(written, policy)
  const { firstLine, lines, decision } = written
  const marked = [
    ...marks.keys(),
    ...(decision && (policy.fired || marks.size === 0) ? [decision.from, decision.to] : []),
  ]
  const lastLine = firstLine + lines.length - 1
  const from = isWhole || marked.length === 0 ? firstLine : Math.max(firstLine, Math.min(...marked) - AROUND)
  const to = isWhole || marked.length === 0 ? lastLine : Math.min(lastLine, Math.max(...marked) + AROUND)
  const isDecision = (line: number): boolean =>
    policy.fired && decision !== null && line >= decision.from && line <= decision.to
  return (
    <figure class="written">
      <figcaption>
        <code>{safeText(written.path)}</code>
        {written.isEdited && <span class="badge live">edited</span>}
        {(from > firstLine || to < lastLine || isWhole) && (
          <button type="button" class="link" onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Only what was asked' : 'Whole document'}
          </button>
        )}
      </figcaption>
      <div class="written-lines" role="group" aria-label={`Text of ${safeText(written.policy)}`} tabindex={0}>
        {lines.slice(from - firstLine, to - firstLine + 1).map((text, at) => {
          const line = from + at
          const mark = marks.get(line)
          const plain = isDecision(line) ? 'then' : ''
          return (
            <div key={line} class={`written-line ${mark ? `hit ${mark.truth}` : plain}`}>
              <span class="line-number">{line}</span>
              <code>{text === '' ? ' ' : safeText(text)}</code>
              {mark?.seen !== undefined && (
                <span class="line-note">
                  <b>{TRUTHS[mark.truth][2]}</b> {safeText(mark.seen)}
                </span>
              )}
            </div>
          )
        })}
      </div>
    </figure>
  )
}

function marksOf({ comparisons }: WrittenPolicy, { tree }: ExplainedPolicy): ReadonlyMap<number, LineMark> {
  const leaves = new Map(leavesOf(tree).map((leaf) => [leaf.text, leaf]))
  const marks = new Map<number, LineMark>()
  for (const { text, from, to } of comparisons) {
    const leaf = leaves.get(text)
    if (!leaf) continue
    for (let line = from; line <= to; line++)
      marks.set(line, { truth: leaf.truth, ...(line === to && { seen: leaf.seen }) })
  }
  return marks
}

type Leaf = Extract<ExplainedNode, { node: 'leaf' }>

function leavesOf(node: ExplainedNode | undefined): readonly Leaf[] {
  if (!node) return []
  return node.node === 'leaf' ? [node] : node.children.flatMap(leavesOf)
}
