import type { SessionLabels } from '../../queries.ts'
import { toText } from '../../rows/json-column.ts'

/** The arguments of `label_session`: an absent one changes nothing, a title of null is removed. */
export const toLabelColumns = ({ title, metadata, tags, legalHold }: SessionLabels) => ({
  has_title: title !== undefined,
  title: title ?? null,
  has_metadata: metadata !== undefined,
  metadata: metadata ? toText(metadata) : null,
  tags: tags ?? null,
  tags_text: tags ? toText(tags) : null,
  legal_hold: legalHold ?? null,
})
