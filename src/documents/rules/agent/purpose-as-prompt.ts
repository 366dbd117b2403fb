import type { LintRule } from '../../facts/rule.ts'
import { instructionsOf } from '../../facts/agents/instructions.ts'

export const agentPurposeAsPrompt: LintRule = {
  severity: 'warning',
  law: 'Instructions for the model are in `instructions`; `purpose` is for people and is never sent to the model.',
  fix: 'Move instructions to `spec.instructions`.',
  source: 'Authoring format, "Agent document": `purpose` is not executed as a prompt',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const purpose = document.texts('spec.purpose')[0]
    const instructions = instructionsOf(workspace, document)?.text
    if (purpose === undefined || instructions === undefined || instructions.trim().length >= TINY) return
    const orders = ORDER.test(purpose.value) && purpose.value.length > instructions.trim().length
    if (!orders && (purpose.value.length < LONG || purpose.value.length < 4 * instructions.length)) return
    report(purpose, 'This purpose reads like a prompt, but the model never sees it.')
  },
}

/** Instructions shorter than this, in characters, hardly describe what an agent does. */
const TINY = 80
/** A purpose longer than this, in characters, is more than an intent. */
const LONG = 300
const ORDER = /\b(?:you are|you're|you must|your (?:task|job|role)|always|never|do not|don't)\b/i
