/** Records of what operators and the server do: masked, bounded, in the words of the log. Source: docs/design/audit.md#acts */
import { cutText } from '../../base/text/cut-text.ts'
import { digestOfJson } from '../../base/digest.ts'
import { safeText } from '../../base/text/escape-text.ts'
import type { JsonValue } from '../../base/json/json.ts'
import type { ActAbout, ActKind, NewAct } from '../../spec/people/act.ts'
import type { ServerServices } from './services.ts'

const MAX_SUBJECT = 300
const MAX_REASON = 2000
/** Characters of the JSON of `before`, and of `after`. */
const MAX_VALUE = 4000

/** An act of the server itself. */
export const describeServerAct = (
  services: Pick<ServerServices, 'workspace' | 'clock' | 'redactor'>,
  kind: ActKind,
  about: ActAbout,
): NewAct => ({
  ...describeAct(services, kind, about),
  by: 'server:',
  proof: 'server',
  keyId: null,
  channel: 'server',
  address: null,
})

export const describeAct = (
  { workspace, clock, redactor }: Pick<ServerServices, 'workspace' | 'clock' | 'redactor'>,
  kind: ActKind,
  { subject, reason, before = null, after = null, run, session, refused, setup = [] }: ActAbout,
) => ({
  workspaceId: workspace.id,
  at: clock.now(),
  kind,
  subject: cutText(safeText(redactor.text(subject)), MAX_SUBJECT).text,
  reason: reason === undefined || reason === null ? null : redactor.cut(reason, MAX_REASON).text,
  before: boundValue(redactor.json(before)),
  after: boundValue(redactor.json(after)),
  sessionId: run?.sessionId ?? session ?? null,
  runId: run?.id ?? null,
  refused: refused ?? null,
  counted: 1,
  setup,
})

/** A value that is too large is named by its digest. */
function boundValue(value: JsonValue): JsonValue {
  const { length } = JSON.stringify(value)
  return length <= MAX_VALUE ? value : { digest: digestOfJson(value), characters: length }
}
