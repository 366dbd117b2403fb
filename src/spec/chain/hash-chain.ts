/**
 * Hash chains: each record names the digest of the one before it, so that a record which is changed, removed, added or moved is found.
 * Content enters by a salted digest: it can be erased, salt and all, and the chain still holds. Source: docs/design/audit.md#chains
 */
import { hash } from 'node:crypto'
import { canonicalJson, type JsonObject } from '../../base/json/json.ts'

/** What the first record of a chain names. */
export const CHAIN_START = '0'.repeat(64)

const sha256 = (text: string): string => hash('sha256', text)

/** @param before hash of the record before, or `CHAIN_START` */
export const hashOfLink = (before: string, record: JsonObject): string => hashAfter(before, canonicalJson(record))

/** @param record in canonical JSON */
export const hashAfter = (before: string, record: string): string => sha256(`${before}\n${record}`)

/** Without the salt nobody can try out what a short content was. */
export const saltedDigest = (salt: string, text: string): string => sha256(`${salt}\n${text}`)

/** In 43 characters: there are several in each link. */
export const saltedShortDigest = (salt: string, text: string): string => hash('sha256', `${salt}\n${text}`, 'base64url')
