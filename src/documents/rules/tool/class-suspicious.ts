import { effectiveClass, toolDocument, toolsOf } from '../../facts/agents/bindings.ts'
import { wordsOf } from '../../facts/agents/capabilities.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolClassSuspicious: LintRule = {
  severity: 'warning',
  law: 'The name of a `read_only` tool does not suggest that it changes something.',
  fix: 'Check `side_effect_class`, or rename the tool.',
  source: 'Authoring format, "Side-effect class values"',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const use of toolsOf(document)) {
      if (use.ref === undefined || effectiveClass(workspace, use) !== 'read_only') continue
      const words = wordsOf(use.ref.name)
      const [first] = words
      const verb = words.find((word) => VERBS.has(word))
      // A name that begins with a reading verb reads: `list_deleted`, `get_payment_update`.
      if (first === undefined || verb === undefined || READS.has(first)) continue
      const own = use.value['side_effect_class'] !== undefined
      const tool = toolDocument(workspace, use)
      const place =
        own || tool === undefined
          ? document.placeOf(`${use.pointer}/side_effect_class`)
          : tool.placeOf('/spec/side_effect_class')
      report(place, `${use.ref.id} is called read_only, but its name says "${verb}".`, {
        why: 'Calls of a read_only tool are never gated by default, and repeated after a crash.',
      })
    }
  },
}

const VERBS = new Set(
  'delete remove send pay create update write transfer refund cancel drop insert publish charge wire purge revoke close approve book order buy sell execute'.split(
    ' ',
  ),
)
const READS = new Set('get list read search find lookup query fetch show view check count preview estimate'.split(' '))
