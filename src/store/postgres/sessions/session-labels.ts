import type { SessionLabels } from '../../queries.ts'
import { toText } from '../../rows/json-column.ts'

/** The arguments of `label_session`: an absent one changes nothing, an empty one removes the value. */
export const toLabelColumns = ({ title, metadata, tags, legalHold }: SessionLabels) => ({
  has_title: title !== undefined,
  title: title ?? null,
  has_metadata: metadata !== undefined,
  metadata: metadata && Object.keys(metadata).length > 0 ? toText(metadata) : null,
  tags: tags ?? null,
  tags_text: tags && tags.length > 0 ? toText(tags) : null,
  legal_hold: legalHold ?? null,
})
