/** Whom a channel told, as its receipts say it: addresses of a mail, people or a channel of Slack. */
import type { JsonObject } from '../../base/json/json.ts'
import type { StoredNotice } from '../../spec/notice.ts'
import { readRefs } from './slack/slack-refs.ts'

const TOLD = 'told'

export const toToldReceipt = (told: Iterable<string>): JsonObject => ({ [TOLD]: [...told] })

/** Addresses to which a mail went. */
export function readTold({ receipt }: Pick<StoredNotice, 'receipt'>): readonly string[] {
  const told = receipt?.[TOLD]
  return Array.isArray(told) ? told.filter((each) => typeof each === 'string') : []
}

export const readRecipients = (notice: Pick<StoredNotice, 'receipt'>): readonly string[] => [
  ...new Set([...readTold(notice), ...readRefs(notice).map(({ to }) => to)]),
]
